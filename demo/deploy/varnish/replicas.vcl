# The processes of the application. For a number other than three, change the list in the four places that name
# them, and `retries < 3` in two. More than four also need `-p max_retries=` with their number.
vcl 4.1;

import directors;

probe health { .url = "/health"; .interval = 1s; .timeout = 1s; .window = 3; .threshold = 2; .initial = 2; }

# Each is listed twice, as Varnish refuses to connect to a replica that has failed its probe, even if it is the last
# one. So probes decide which replica is tried first; without a probe, each can still be tried.
backend one { .host = "127.0.0.1"; .port = "3001"; .probe = health; }
backend two { .host = "127.0.0.1"; .port = "3002"; .probe = health; }
backend three { .host = "127.0.0.1"; .port = "3003"; .probe = health; }
backend one_anyway { .host = "127.0.0.1"; .port = "3001"; .connect_timeout = 1s; }
backend two_anyway { .host = "127.0.0.1"; .port = "3002"; .connect_timeout = 1s; }
backend three_anyway { .host = "127.0.0.1"; .port = "3003"; .connect_timeout = 1s; }

sub vcl_init {
  new healthy = directors.round_robin();
  healthy.add_backend(one);
  healthy.add_backend(two);
  healthy.add_backend(three);
  new any = directors.round_robin();
  any.add_backend(one_anyway);
  any.add_backend(two_anyway);
  any.add_backend(three_anyway);
  new replicas = directors.fallback();
  replicas.add_backend(healthy.backend());
  replicas.add_backend(any.backend());
}

sub vcl_recv {
  set req.backend_hint = replicas.backend();
}

# A retry names every replica, so it reaches each of them once.
sub vcl_backend_fetch {
  if (bereq.retries == 1) { set bereq.backend = one_anyway; }
  if (bereq.retries == 2) { set bereq.backend = two_anyway; }
  if (bereq.retries == 3) { set bereq.backend = three_anyway; }
}

sub vcl_backend_response {
  # During a rolling deploy only some replicas have the files of a release, unless they share `public`.
  if (beresp.status == 404 && bereq.method ~ "^(GET|HEAD)$" && bereq.retries < 3
      && bereq.url ~ "^/assets/[^?]*-[0-9a-f]{32}(\.[^./?]+)?(\?|$)") {
    return (retry);
  }
}

# A replica is being restarted. A request that changes something may have arrived, so it is not repeated.
sub vcl_backend_error {
  if (bereq.method ~ "^(GET|HEAD)$" && bereq.retries < 3) {
    return (retry);
  }
}
