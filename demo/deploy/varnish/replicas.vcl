# The processes of the application, and what to do when one of them has no answer. Three of them; for another
# number, change the list in the three places that name them, and `retries < 3` in two. More than four also need
# `-p max_retries=` with their number.
vcl 4.1;

import directors;

probe health { .url = "/health"; .interval = 1s; .timeout = 1s; .window = 3; .threshold = 2; .initial = 2; }

backend one { .host = "127.0.0.1"; .port = "3001"; .probe = health; }
backend two { .host = "127.0.0.1"; .port = "3002"; .probe = health; }
backend three { .host = "127.0.0.1"; .port = "3003"; .probe = health; }

sub vcl_init {
  new replicas = directors.round_robin();
  replicas.add_backend(one);
  replicas.add_backend(two);
  replicas.add_backend(three);
}

sub vcl_recv {
  set req.backend_hint = replicas.backend();
}

# A retry asks every replica by name, so it reaches each of them once.
sub vcl_backend_fetch {
  if (bereq.retries == 1) { set bereq.backend = one; }
  if (bereq.retries == 2) { set bereq.backend = two; }
  if (bereq.retries == 3) { set bereq.backend = three; }
}

sub vcl_backend_response {
  # During a rolling deploy only some replicas have the files of a release, unless they share `public`. What is
  # asked for by its fingerprint exists somewhere.
  if (beresp.status == 404 && bereq.method ~ "^(GET|HEAD)$" && bereq.retries < 3
      && bereq.url ~ "^/assets/[^?]*-[0-9a-f]{32}(\.[^./?]+)?(\?|$)") {
    return (retry);
  }
}

# Nothing answered: a replica is being restarted. A request that changes something may have arrived, and is not
# repeated.
sub vcl_backend_error {
  if (bereq.method ~ "^(GET|HEAD)$" && bereq.retries < 3) {
    return (retry);
  }
}
