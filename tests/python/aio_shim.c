// For LD_PRELOAD: a kernel that makes asynchronous I/O difficult in the way that AIO_SHIM names.
//   short   every second transfer ends before its end, at any byte
//   busy    calls are interrupted, have no room, or take one request of many
//   error   every transfer at AIO_SHIM_OFFSET fails with EIO
//   eof     the same, but as if the file ended there
//   count   nothing; "<1 if O_DIRECT> <bytes>" of each request is appended to the file AIO_SHIM_LOG
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_mode(const char* name) {
  const char* mode = getenv("AIO_SHIM");
  return mode != NULL && strcmp(mode, name) == 0;
}

static void count(struct iocb* request) {
  FILE* log = fopen(getenv("AIO_SHIM_LOG"), "a");
  const int direct = (fcntl(request->aio_fildes, F_GETFL) & O_DIRECT) != 0;
  fprintf(log, "%d %lu\n", direct, request->u.c.nbytes);
  fclose(log);
}

int io_submit(io_context_t context, long count_of, struct iocb** requests) {
  static int (*real)(io_context_t, long, struct iocb**);
  static __thread unsigned calls;
  if (real == NULL) real = (int (*)(io_context_t, long, struct iocb**))dlsym(RTLD_NEXT, "io_submit");
  if (is_mode("busy")) {
    ++calls;
    if (calls % 4 == 1) return -EAGAIN;
    if (calls % 4 == 2) return -EINTR;
    if (calls % 4 == 3) count_of = 1;
  }
  for (long i = 0; is_mode("count") && i < count_of; ++i)
    count(requests[i]);
  return real(context, count_of, requests);
}

static void change(struct io_event* event) {
  static __thread unsigned transfers;
  const char* offset = getenv("AIO_SHIM_OFFSET");
  const int hit = offset != NULL && event->obj->u.c.offset == atoll(offset);
  if (is_mode("short") && ++transfers % 2 == 0 && (long)event->res > 1) event->res = event->res * 2 / 3;
  if (is_mode("error") && hit) event->res = (unsigned long)-EIO;
  if (is_mode("eof") && hit) event->res = 0;
}

int io_getevents(io_context_t context, long least, long most, struct io_event* events, struct timespec* timeout) {
  static int (*real)(io_context_t, long, long, struct io_event*, struct timespec*);
  static __thread unsigned calls;
  if (real == NULL) {
    real = (int (*)(io_context_t, long, long, struct io_event*, struct timespec*))dlsym(RTLD_NEXT, "io_getevents");
  }
  if (is_mode("busy") && ++calls % 2 == 1) return -EINTR;
  const int got = real(context, least, most, events, timeout);
  for (int i = 0; i < got; ++i)
    change(&events[i]);
  return got;
}
