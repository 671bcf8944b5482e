# Varnish as the shared cache in front of an application with koa-fresh-assets. Written for Varnish 7.1.
#
#   varnishd -f /srv/app/deploy/varnish/default.vcl -a 127.0.0.1:6081 -s malloc,256m \
#     -p http_gzip_support=off -p backend_remote_error_holddown=0
#
# With http_gzip_support on, everybody gets gzip. Without backend_remote_error_holddown=0, a process that has just
# started gets no requests for a quarter of a second after a connection to it was refused.
vcl 4.1;

import std;

include "./replicas.vcl";
include "./groups.vcl";

sub vcl_recv {
  set req.http.Host = std.tolower(req.http.Host);
  if (req.http.Host !~ "^[a-z0-9.-]+(:\d+)?$" && req.http.Host !~ "^\[[0-9a-f:]+\](:\d+)?$") {
    return (synth(400));
  }

  # With app.proxy = true, Koa trusts these fields, so no client may choose them. A proxy in front, such as nginx for
  # TLS, has a listener of its own: -a proxied=127.0.0.1:6082
  set req.http.X-Forwarded-Host = req.http.Host;
  if (local.socket != "proxied") {
    set req.http.X-Forwarded-For = client.ip;
    set req.http.X-Forwarded-Proto = "http";
  }

  # Varnish compares the copies for each value of a field in Vary one after the other, so the cache only sees
  # whether a request has one of these. If the option `credentials` names others, such as X-API-Key, add them in
  # the three places that name Authorization.
  if (req.restarts == 0) {
    unset req.http.X-Authorization;
    unset req.http.X-Cookie;
    if (req.http.Authorization) {
      set req.http.X-Authorization = req.http.Authorization;
      set req.http.Authorization = "some";
    }
    if (req.http.Cookie) {
      std.collect(req.http.Cookie, "; ");
      set req.http.X-Cookie = req.http.Cookie;
      set req.http.Cookie = "some";
    }
  }

  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }

  # A page that may not read a response must not learn the contents of the browser's cache from its size (RFC 9842
  # section 9.3). Vary does not name these fields.
  if (req.http.Sec-Fetch-Mode == "no-cors" && req.http.Sec-Fetch-Site !~ "^(same-origin|none)$") {
    unset req.http.Available-Dictionary;
  }

  # Only as many values are left as there are sets of codings. One with a q of 0 or "*" gets the identity.
  if (req.http.Accept-Encoding) {
    set req.http.X-Codings = "";
    if (req.http.Accept-Encoding !~ "\*|;\s*q=0(\.0*)?\s*(,|$)") {
      if (req.http.Accept-Encoding ~ "(^|[, ])br($|[,; ])") {
        set req.http.X-Codings = req.http.X-Codings + ", br";
      }
      if (req.http.Accept-Encoding ~ "(^|[, ])zstd($|[,; ])") {
        set req.http.X-Codings = req.http.X-Codings + ", zstd";
      }
      if (req.http.Accept-Encoding ~ "(^|[, ])gzip($|[,; ])") {
        set req.http.X-Codings = req.http.X-Codings + ", gzip";
      }
      if (req.http.Accept-Encoding ~ "(^|[, ])dcz($|[,; ])" && req.http.Available-Dictionary) {
        set req.http.X-Codings = req.http.X-Codings + ", dcz";
      }
    }
    set req.http.Accept-Encoding = regsub(req.http.X-Codings, "^, ", "");
    unset req.http.X-Codings;
    if (req.http.Accept-Encoding == "") {
      unset req.http.Accept-Encoding;
    }
  }
  # A dictionary counts only with its coding (RFC 9842).
  if (req.http.Accept-Encoding !~ "dcz" || req.http.Available-Dictionary !~ "^:[A-Za-z0-9+/]{43}=:$") {
    unset req.http.Available-Dictionary;
  }

  return (hash);
}

sub vcl_hash {
  # A page may contain its own URL, or be a redirect to https. Host and path are added after this.
  hash_data(req.http.X-Forwarded-Proto);
  # Vary alone does not suffice, as anybody can make up dictionaries.
  if (req.http.Available-Dictionary) {
    hash_data(req.http.Available-Dictionary);
  }
}

sub vcl_pass {
  # There is no delta from this dictionary, so the response without one is looked up.
  if (req.is_hitpass && req.http.Available-Dictionary) {
    unset req.http.Available-Dictionary;
    return (restart);
  }
}

sub vcl_miss {
  # Only a passed request can get a 304.
  if (req.is_hitmiss && (req.http.Authorization || req.http.Cookie)
      && (req.http.If-None-Match || req.http.If-Modified-Since)) {
    return (pass);
  }
}

sub vcl_hit {
  # RFC 9111 section 3.5.
  if (req.http.Authorization && obj.http.Cache-Control !~ "(^|[ ,])public($|[ ,])") {
    return (pass);
  }
}

sub vcl_backend_fetch {
  if (bereq.http.X-Authorization) {
    set bereq.http.Authorization = bereq.http.X-Authorization;
    unset bereq.http.X-Authorization;
  }
  if (bereq.http.X-Cookie) {
    set bereq.http.Cookie = bereq.http.X-Cookie;
    unset bereq.http.X-Cookie;
  }
}

# The URL of Location on the same origin, if that is a path or a whole URL; otherwise that of the request.
sub find_location {
  set bereq.http.X-Url = regsub(beresp.http.Location, "#.*", "");
  if (bereq.http.X-Url ~ "^(https?:)?//") {
    if (std.tolower(regsub(bereq.http.X-Url, "^[^/]*//([^/]*).*", "\1")) != bereq.http.Host) {
      unset bereq.http.X-Url;
    }
    set bereq.http.X-Url = regsub(bereq.http.X-Url, "^[^/]*//[^/]*", "");
  }
  if (bereq.http.X-Url !~ "^/") {
    set bereq.http.X-Url = bereq.url;
  }
}

# RFC 9111 section 4.4: a successful change invalidates its URL, and that of its Location on the same origin.
sub invalidate_urls {
  call find_location;
  if (!std.ban("obj.http.X-Groups-Host == " + bereq.http.Host
        + " && obj.http.X-Url == " + regsuball(bereq.url, {"[\s"]"}, "_"))
      || !std.ban("obj.http.X-Groups-Host == " + bereq.http.Host
        + " && obj.http.X-Url == " + regsuball(bereq.http.X-Url, {"[\s"]"}, "_"))) {
    std.syslog(4, "a URL was not invalidated: " + std.ban_error());
  }
  unset bereq.http.X-Url;
}

sub vcl_backend_response {
  # A ban splits its expression at spaces and quotes.
  set beresp.http.X-Url = regsuball(bereq.url, {"[\s"]"}, "_");
  if (bereq.method !~ "^(GET|HEAD|OPTIONS|TRACE|QUERY)$" && beresp.status < 400) {
    call invalidate_urls;
  }

  # Stored responses are compared with requests as vcl_recv leaves them.
  if (bereq.http.Authorization) {
    set bereq.http.X-Authorization = bereq.http.Authorization;
    set bereq.http.Authorization = "some";
  }
  if (bereq.http.Cookie) {
    set bereq.http.X-Cookie = bereq.http.Cookie;
    set bereq.http.Cookie = "some";
  }

  # Under a dictionary only deltas are stored.
  if (bereq.http.Available-Dictionary && beresp.http.Content-Encoding != "dcz") {
    return (pass(120s));
  }

  # If there are several lines, only the first would be read.
  std.collect(beresp.http.Cache-Control);
  std.collect(beresp.http.CDN-Cache-Control);
  std.collect(beresp.http.Vary);

  # RFC 9213: a targeted field replaces Cache-Control for this cache.
  if (beresp.http.CDN-Cache-Control) {
    set beresp.http.X-Directives = std.tolower(beresp.http.CDN-Cache-Control);
    set beresp.ttl = 0s;
    if (beresp.http.X-Directives ~ "(^|[ ,])max-age=\d") {
      set beresp.ttl = std.duration(regsub(beresp.http.X-Directives, "^.*\bmax-age=(\d+).*$", "\1s"), 0s);
      set beresp.ttl = beresp.ttl - std.duration(beresp.http.Age + "s", 0s);
    }
  } else {
    # Varnish itself has read s-maxage, max-age and Expires. Without any of them it would guess.
    set beresp.http.X-Directives = std.tolower(beresp.http.Cache-Control);
    if (beresp.http.X-Directives !~ "max-?age=\d" && !beresp.http.Expires) {
      set beresp.ttl = 0s;
    }
  }
  # RFC 5861: a stale response is used only for as long as the application allows.
  set beresp.grace = 0s;
  if (beresp.http.X-Directives ~ "(^|[ ,])stale-while-revalidate=\d") {
    set beresp.grace = std.duration(
      regsub(beresp.http.X-Directives, "^.*\bstale-while-revalidate=(\d+).*$", "\1s"), 0s);
  }

  # For a day, an expired page is requested with If-None-Match, so the application may answer 304.
  set beresp.keep = 1d;

  # A response that does not say that everybody may have it, or that must be revalidated, is not stored. The
  # uncacheable marker keeps other requests for it from waiting for each other.
  if (beresp.ttl <= 0s || beresp.http.Set-Cookie || beresp.http.Vary ~ "\*"
      || beresp.http.X-Directives ~ "(^|[ ,])(private|no-store|no-cache)($|[ ,=])"
      || (!beresp.http.CDN-Cache-Control && beresp.http.X-Directives !~ "(^|[ ,])(public|s-maxage=\d+)($|[ ,])")
      || (bereq.http.Authorization && beresp.http.Cache-Control !~ "(^|[ ,])public($|[ ,])")
      || (bereq.http.Authorization && beresp.http.Vary ~ "(?i)(^|[ ,])authorization($|[ ,])")
      || (bereq.http.Cookie && beresp.http.Vary ~ "(?i)(^|[ ,])cookie($|[ ,])")) {
    # Only a passed request keeps its conditions. For two minutes nothing is stored under this URL, so one visitor's
    # cookie or password must not cause it for others.
    if ((beresp.http.ETag || beresp.http.Last-Modified) && !beresp.http.Set-Cookie
        && (!bereq.http.Authorization || beresp.http.Vary ~ "(?i)(^|[ ,])authorization($|[ ,])")
        && (!bereq.http.Cookie || beresp.http.Vary ~ "(?i)(^|[ ,])cookie($|[ ,])")) {
      unset beresp.http.X-Directives;
      return (pass(120s));
    }
    set beresp.uncacheable = true;
    set beresp.ttl = 120s;
    set beresp.grace = 0s;
  }
  unset beresp.http.X-Directives;
  return (deliver);
}

sub vcl_deliver {
  # A new nonce in a 304 would be used for the scripts of the page that the browser has (RFC 9111 section 3.2).
  if (resp.http.Content-Security-Policy ~ "'nonce-" || resp.http.Content-Security-Policy-Report-Only ~ "'nonce-") {
    unset req.http.If-None-Match;
    unset req.http.If-Modified-Since;
  }
  unset resp.http.X-Url;
  # RFC 9211.
  if (obj.hits > 0) {
    set resp.http.Cache-Status = "varnish; hit";
  } elsif (obj.uncacheable) {
    set resp.http.Cache-Status = "varnish; fwd=bypass";
  } else {
    set resp.http.Cache-Status = "varnish; fwd=miss";
  }
}
