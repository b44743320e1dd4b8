/*
** pty.c - a Lua module for tests: a program in a terminal of its own.
** SPDX-License-Identifier: MIT
**
** spawn(arguments, environment, columns) -> a terminal:
**   t:write(text), t:read(milliseconds) -> text, "" after that time, nil: it has ended
**   t:raw(), whether it reads key by key
**   t:suspend(), stops it and lets it go on
**   t:resize(columns), t:wait() -> the exit status, or 128 and the signal
** now() -> milliseconds since some time; setenv(name, value)
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>

#define CLASS "moontile.pty"

typedef struct terminal {
  int fd;
  pid_t pid;
} terminal;

/* The strings of the table at `i`, with a NULL behind. */
static char **strings (lua_State *L, int i) {
  size_t n = lua_rawlen(L, i);
  char **list = lua_newuserdatauv(L, (n + 1) * sizeof *list, 0);
  for (size_t k = 0; k < n; k++) {
    lua_rawgeti(L, i, (lua_Integer)k + 1);
    list[k] = (char *)lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  list[n] = NULL;
  return list;
}

static void set_columns (int fd, lua_Integer columns) {
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = 24};
  ioctl(fd, TIOCSWINSZ, &size);
}

/* In the child: the terminal `name` becomes its own. */
static void run (const char *name, char **arguments, char **environment) {
  setsid();
  int fd = open(name, O_RDWR);
  ioctl(fd, TIOCSCTTY, 0);
  for (int i = 0; i < 3; i++) dup2(fd, i);
  if (fd > 2) close(fd);
  signal(SIGINT, SIG_DFL);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

static int l_spawn (lua_State *L) {
  char **arguments = strings(L, 1), **environment = strings(L, 2);
  terminal *t = lua_newuserdatauv(L, sizeof *t, 0);
  t->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (t->fd < 0 || grantpt(t->fd) != 0 || unlockpt(t->fd) != 0)
    return luaL_error(L, "no terminal: %s", strerror(errno));
  set_columns(t->fd, luaL_optinteger(L, 3, 80));
  const char *name = ptsname(t->fd);
  t->pid = fork();
  if (t->pid == 0) run(name, arguments, environment);
  luaL_setmetatable(L, CLASS);
  return 1;
}

static int l_write (lua_State *L) {
  const terminal *t = luaL_checkudata(L, 1, CLASS);
  size_t n;
  const char *text = luaL_checklstring(L, 2, &n);
  while (n > 0) {
    ssize_t done = write(t->fd, text, n);
    if (done < 0) return luaL_error(L, "write: %s", strerror(errno));
    text += done;
    n -= (size_t)done;
  }
  return 0;
}

static int l_read (lua_State *L) {
  const terminal *t = luaL_checkudata(L, 1, CLASS);
  struct pollfd p = {.fd = t->fd, .events = POLLIN};
  char text[4096];
  if (poll(&p, 1, (int)luaL_checkinteger(L, 2)) == 0) return lua_pushliteral(L, ""), 1;
  ssize_t n = read(t->fd, text, sizeof text);
  if (n <= 0) return 0;
  lua_pushlstring(L, text, (size_t)n);
  return 1;
}

/* Stops it, as Ctrl-Z does, and lets it go on. */
static int l_suspend (lua_State *L) {
  const terminal *t = luaL_checkudata(L, 1, CLASS);
  kill(t->pid, SIGSTOP);
  waitpid(t->pid, NULL, WUNTRACED);
  kill(t->pid, SIGCONT);
  return 0;
}

/* Whether the program reads key by key. */
static int l_raw (lua_State *L) {
  const terminal *t = luaL_checkudata(L, 1, CLASS);
  struct termios modes;
  lua_pushboolean(L, tcgetattr(t->fd, &modes) == 0 && !(modes.c_lflag & ICANON));
  return 1;
}

static int l_resize (lua_State *L) {
  const terminal *t = luaL_checkudata(L, 1, CLASS);
  set_columns(t->fd, luaL_checkinteger(L, 2));
  return 0;
}

static int l_wait (lua_State *L) {
  terminal *t = luaL_checkudata(L, 1, CLASS);
  int status = 0;
  if (t->pid <= 0 || waitpid(t->pid, &status, 0) < 0) return 0;
  t->pid = 0;
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 1;
}

static int l_setenv (lua_State *L) {
  setenv(luaL_checkstring(L, 1), luaL_checkstring(L, 2), 1);
  return 0;
}

static int l_now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, 1e3 * (lua_Number)t.tv_sec + 1e-6 * (lua_Number)t.tv_nsec);
  return 1;
}

/* What still runs is killed. */
static int l_gc (lua_State *L) {
  terminal *t = luaL_checkudata(L, 1, CLASS);
  if (t->pid > 0) {
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
  }
  t->pid = 0;
  if (t->fd >= 0) close(t->fd);
  t->fd = -1;
  return 0;
}

__attribute__((visibility("default"))) int luaopen_moontile_pty (lua_State *L);

int luaopen_moontile_pty (lua_State *L) {
  static const luaL_Reg methods[] = {{"write", l_write}, {"read", l_read},
                                     {"raw", l_raw},     {"resize", l_resize},
                                     {"wait", l_wait},   {"suspend", l_suspend},
                                     {"__gc", l_gc},     {NULL, NULL}};
  luaL_newmetatable(L, CLASS);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_createtable(L, 0, 3);
  lua_pushcfunction(L, l_spawn);
  lua_setfield(L, -2, "spawn");
  lua_pushcfunction(L, l_now);
  lua_setfield(L, -2, "now");
  lua_pushcfunction(L, l_setenv);
  lua_setfield(L, -2, "setenv");
  return 1;
}
