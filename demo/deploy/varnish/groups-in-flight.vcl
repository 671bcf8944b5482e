# Responses that were on their way when their group was invalidated.
#
# A ban reaches what is stored already. A page that the application began to render before a change, and that
# arrives after it, is stored as if nothing had happened, and requests that wait for it get it as well. So this
# file remembers when each group was last invalidated, and discards a stored response that was requested before.
#
# It needs `-p vcc_allow_inline_c=on` (since Varnish 7.2: `-p vcc_feature=+allow_inline_c`). Without the line
# that includes it in default.vcl, everything else works, and such a page stays until it expires.
vcl 4.1;

import std;
import purge;

C{
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* The time of the last invalidation, in ms. Two groups that share a slot only cost a request. */
#define SLOTS 16384
static int64_t invalidated[SLOTS];

static int64_t milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The slot of the next group of a list of strings (RFC 9651 section 3.3.3), or -1 at its end. */
static int next_slot(const char **list, const char *host) {
  const char *p = *list;
  uint64_t hash = 14695981039346656037ULL;
  while (*p != '\0' && *p != '"') p++;
  if (*p++ == '\0') return (-1);
  for (; *host != '\0'; host++) hash = (hash ^ (unsigned char)*host) * 1099511628211ULL;
  for (hash *= 1099511628211ULL; *p != '\0' && *p != '"'; p++) {
    if (*p == '\\' && p[1] != '\0') p++;
    hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
  }
  *list = *p == '\0' ? p : p + 1;
  return ((int)((hash >> 32) % SLOTS));
}
}C

sub vcl_backend_fetch {
  set bereq.http.X-Groups-Since = std.time2real(now, 0);
}

sub vcl_backend_response {
  set beresp.http.X-Groups-Since = bereq.http.X-Groups-Since;
  # groups.vcl has decided whether there is anything to invalidate.
  if (bereq.http.X-Pattern) {
    C{
      static const struct gethdr_s groups = { HDR_BERESP, "\031Cache-Group-Invalidation:" };
      static const struct gethdr_s host = { HDR_BEREQ, "\005Host:" };
      const char *list = VRT_GetHdr(ctx, &groups), *name = VRT_GetHdr(ctx, &host);
      int slot;
      while (list != NULL && name != NULL && (slot = next_slot(&list, name)) >= 0)
        __atomic_store_n(&invalidated[slot], milliseconds(), __ATOMIC_SEQ_CST);
    }C
  }
}

sub vcl_hit {
  C{
    static const struct gethdr_s groups = { HDR_OBJ, "\015Cache-Groups:" };
    static const struct gethdr_s host = { HDR_OBJ, "\016X-Groups-Host:" };
    static const struct gethdr_s since = { HDR_OBJ, "\017X-Groups-Since:" };
    const char *list = VRT_GetHdr(ctx, &groups), *name = VRT_GetHdr(ctx, &host);
    const char *start = VRT_GetHdr(ctx, &since);
    int slot;
    if (list != NULL && name != NULL && start != NULL) {
      /* A millisecond earlier, as the text is rounded. */
      int64_t asked = (int64_t)(strtod(start, NULL) * 1000) - 1;
      while ((slot = next_slot(&list, name)) >= 0)
        if (__atomic_load_n(&invalidated[slot], __ATOMIC_SEQ_CST) >= asked)
          VRT_l_req_hash_always_miss(ctx, 1); /* a variable that VCL can read */
    }
  }C
  if (req.hash_always_miss) {
    set req.hash_always_miss = false;
    if (req.restarts > 1) {
      return (pass);
    }
    purge.hard();
    return (restart);
  }
}

sub vcl_deliver {
  unset resp.http.X-Groups-Since;
}
