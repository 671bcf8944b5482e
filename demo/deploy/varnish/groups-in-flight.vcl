# Like default.vcl, but also drops responses that were on their way when their URL or one of their groups was invalidated:
# `varnishd -f /srv/app/deploy/varnish/groups-in-flight.vcl`, with the same options. It needs vmod_var, which is in
# Debian's package varnish-modules.
#
# A ban reaches only responses that are already stored. So this file remembers when each group was last invalidated,
# and discards a stored response that was requested before.
vcl 4.1;

import directors;
import purge;
import std;
import var;

sub vcl_init {
  # Used only for its hash: without backends, `varnishadm backend.list` always shows it as sick.
  new groups = directors.shard();
}

sub vcl_recv {
  # Set below; not for clients.
  unset req.http.X-Group-List;
  unset req.http.X-Group-Slots;
}

sub vcl_backend_fetch {
  unset bereq.http.X-Group-Slots;
  set bereq.http.X-Group-Since = std.time2real(now, 0.0);
}

# VCL has no loop. The application names at most 32 groups in a response; its URL and that of its Location are two more.
sub vcl_backend_response {
  set bereq.http.X-Group-List = {"""} + regsuball(bereq.url, {"["\\]"}, "_") + {"""};
  if (bereq.method ~ "^(GET|HEAD|OPTIONS|TRACE|QUERY)$") {
    std.collect(beresp.http.Cache-Groups);
    set bereq.http.X-Group-List = bereq.http.X-Group-List + beresp.http.Cache-Groups;
  } elsif (beresp.status < 400) {
    # As in groups.vcl.
    std.collect(beresp.http.Cache-Group-Invalidation);
    call find_location;
    set bereq.http.X-Group-List = bereq.http.X-Group-List + {"""} + regsuball(bereq.http.X-Url, {"["\\]"}, "_")
      + {"""} + beresp.http.Cache-Group-Invalidation;
    unset bereq.http.X-Url;
  } else {
    unset bereq.http.X-Group-List;
  }
  call next_group; call next_group;
  call next_8_groups; call next_8_groups; call next_8_groups; call next_8_groups;
  set beresp.http.X-Group-Since = bereq.http.X-Group-Since;
  set beresp.http.X-Group-Slots = bereq.http.X-Group-Slots;
}
sub next_8_groups {
  call next_group; call next_group; call next_group; call next_group;
  call next_group; call next_group; call next_group; call next_group;
}

# Takes the first group from a list of strings (RFC 9651 section 3.3.3). The time of its last invalidation is in one
# of 2,048 slots, since vmod_var forgets no variable. Two groups in the same slot only cost a request.
sub next_group {
  if (bereq.http.X-Group-List ~ {"""}) {
    set bereq.http.X-Group-Slot = "group-" + groups.key(bereq.http.Host + " "
      + regsub(bereq.http.X-Group-List, {"^[^"]*"([^"\\]*(?:\\.[^"\\]*)*).*$"}, "\1")) % 2048;
    set bereq.http.X-Group-List =
      regsub(bereq.http.X-Group-List, {"^[^"]*"[^"\\]*(?:\\.[^"\\]*)*"?"}, "");
    set bereq.http.X-Group-Slots = bereq.http.X-Group-Slots + bereq.http.X-Group-Slot + " ";
    if (bereq.method !~ "^(GET|HEAD|OPTIONS|TRACE|QUERY)$") {
      var.global_set(bereq.http.X-Group-Slot, std.time2real(now, 0.0));
    }
  }
}

sub vcl_hit {
  # Not for ever, as later invalidations are bans. The number is that of simultaneous requests.
  if (obj.hits < 1000) {
    set req.http.X-Group-Slots = obj.http.X-Group-Slots;
    call check_slot;
    call check_8_slots; call check_8_slots; call check_8_slots; call check_8_slots;
  }
  if (req.hash_always_miss) {
    set req.hash_always_miss = false;
    if (req.restarts > 1) {
      return (pass);
    }
    purge.hard();
    return (restart);
  }
}
sub check_8_slots {
  call check_slot; call check_slot; call check_slot; call check_slot;
  call check_slot; call check_slot; call check_slot; call check_slot;
}
sub check_slot {
  if (req.http.X-Group-Slots ~ " ") {
    # The texts are rounded to a millisecond. The result is in a variable that vcl_hit can read.
    if (std.real(var.global_get(regsub(req.http.X-Group-Slots, " .*", "")), 0.0)
        > std.real(obj.http.X-Group-Since, 0.0) - 0.002) {
      set req.hash_always_miss = true;
    }
    set req.http.X-Group-Slots = regsub(req.http.X-Group-Slots, "^[^ ]* ", "");
  }
}

sub vcl_deliver {
  unset resp.http.X-Group-Since;
  unset resp.http.X-Group-Slots;
}

# This comes last, as its vcl_recv, vcl_backend_response and vcl_hit return.
include "./default.vcl";
