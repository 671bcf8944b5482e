# Cache groups (RFC 9875): the response to a change invalidates the stored responses of the groups that it names.
vcl 4.1;

import std;

sub vcl_recv {
  # Set below; not for clients.
  unset req.http.X-Pattern;
}

sub vcl_backend_response {
  # Groups belong to an origin (section 2.1), so the host is stored as well. A ban splits its expression at spaces
  # and has no quoting, so spaces and quotes are stored as "_" and "!".
  std.collect(beresp.http.Cache-Groups);
  set beresp.http.X-Groups = regsuball(regsuball(beresp.http.Cache-Groups, {"""}, "!"), " ", "_");
  set beresp.http.X-Groups-Host = bereq.http.Host;

  # Section 3 and RFC 9111 section 4.4: this is not for safe methods, nor for a change that failed.
  if (bereq.method !~ "^(GET|HEAD|OPTIONS|TRACE|QUERY)$" && beresp.status < 400
      && beresp.http.Cache-Group-Invalidation) {
    std.collect(beresp.http.Cache-Group-Invalidation);
    # "book-7", "books" becomes the expression !book-7!|!books!, its special characters escaped.
    set bereq.http.X-Pattern = regsuball(beresp.http.Cache-Group-Invalidation, "[][\\.*+?^$|(){}]", "\\\0");
    set bereq.http.X-Pattern = regsuball(bereq.http.X-Pattern, {"", *""}, "!|!");
    set bereq.http.X-Pattern = regsuball(regsuball(bereq.http.X-Pattern, {"""}, "!"), " ", "_");
    if (!std.ban("obj.http.X-Groups-Host == " + bereq.http.Host
        + " && obj.http.X-Groups ~ " + bereq.http.X-Pattern)) {
      std.syslog(4, "groups were not invalidated: " + std.ban_error());
    }
  }
}

sub vcl_deliver {
  unset resp.http.X-Groups;
  unset resp.http.X-Groups-Host;
}
