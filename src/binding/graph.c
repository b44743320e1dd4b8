/*
** graph.c - graphs in Lua: what a function launches, recorded and replayed.
** SPDX-License-Identifier: MIT
**
** A graph keeps the buffers of its plans alive; to replay it after one was freed is an
** error. While a device records, the device's user value is the table of these buffers:
** a sequence, and for each buffer the name of the tensor that came with it first.
*/
#include "binding/host.h"
#include "binding/lmt.h"
#include "binding/plan.h"

typedef struct graph {
  mt_graph *g;        /* NULL: freed */
  lmt_device *device; /* its user value DEVICE */
  lmt_resource *r;
} graph;

enum { DEVICE = 1, BUFFERS, NVALUES = BUFFERS };

void lmt_checkidle (lua_State *L, const lmt_device *d, const char *what) {
  if (d->recording)
    luaL_error(L,
               "%s: %s is recording a graph, and what it records runs when the graph "
               "is called\ndo this before device:graph, or after a call of the graph",
               what, lmt_devicename(d));
}

/* Adds the buffer below the name, unless it is there; pops both. */
static void keep (lua_State *L, int kept) {
  lua_pushvalue(L, -2);
  if (lua_rawget(L, kept) != LUA_TNIL) {
    lua_pop(L, 3);
    return;
  }
  lua_pop(L, 1);
  lua_pushvalue(L, -2);
  lua_rawseti(L, kept, (lua_Integer)lua_rawlen(L, kept) + 1);
  lua_rawset(L, kept);
}

void lmt_keep (lua_State *L, int plan, int n, const char *const *names) {
  int top = lua_gettop(L), kept = top + 3;
  plan = lua_absindex(L, plan);
  luaL_checkstack(L, 8, NULL);
  lua_getiuservalue(L, plan, 1);
  lmt_device *d = ((lmt_buffer *)lua_touserdata(L, -1))->device;
  lua_getiuservalue(L, -1, 1);
  lua_getiuservalue(L, -1, 1);
  for (int i = 0; i < n; i++) {
    lua_getiuservalue(L, plan, i + 1);
    lua_pushfstring(L, "%s of launch %I", names[i],
                    (LUAI_UACINT)mt_graph_size(d->recording) + 1);
    keep(L, kept);
  }
  lua_settop(L, top);
}

/* ---------------------------------------------------------------- recording */

static void close_graph (lmt_resource *r) {
  r->state->held -= r->bytes;
  mt_graph_free(r->p);
}

/* Also one that is being recorded: what f calls may close the state. */
static void free_graph (graph *box) {
  if (box->g && box->device->recording == box->g) box->device->recording = NULL;
  box->g = NULL;
  lmt_release(box->device->state, &box->r);
}

/* Also lets go of its buffers. */
static int graph_gc (lua_State *L) {
  free_graph(luaL_checkudata(L, 1, LMT_GRAPH));
  lua_pushnil(L);
  lua_setiuservalue(L, 1, BUFFERS);
  return 0;
}

/* graph:free(), and what <close> does. */
static int graph_free (lua_State *L) {
  const graph *box = luaL_checkudata(L, 1, LMT_GRAPH);
  lmt_checkasking(L, box->device->state);
  return graph_gc(L);
}

/* Pushes a graph that records on the device at 1; NULL: `err`. */
static graph *begin (lua_State *L, lmt_device *device, mt_err *err) {
  int tries = 0;
  mt_status s;
  graph *box = lua_newuserdatauv(L, sizeof *box, NVALUES);
  *box = (graph){.device = device};
  luaL_setmetatable(L, LMT_GRAPH);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, DEVICE);
  lua_newtable(L);
  lua_setiuservalue(L, -2, BUFFERS);
  do {
    if (box->r == NULL) box->r = lmt_reserve(L, close_graph, device->d);
    s = box->r ? mt_graph_begin(&box->g, device->d, err) :
                 lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
  } while (lmt_again(L, s, &tries, err));
  if (s != MT_OK) return box->g = NULL, NULL;
  box->r->p = box->g;
  return box;
}

/* Calls the function at 2 while the graph on the top records. Leaves what it raised. */
static int record (lua_State *L, graph *box) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, top, BUFFERS);
  lua_setiuservalue(L, 1, 1);
  box->device->recording = box->g;
  box->device->recorded = 0;
  lua_pushvalue(L, 2);
  int status = lua_pcall(L, 0, 0, 0);
  box->device->recording = NULL;
  lua_pushnil(L);
  lua_setiuservalue(L, 1, 1);
  return status;
}

/* device:graph(f) -> what f launches on the device, as a graph | nil, message, code */
int lmt_devicegraph (lua_State *L) {
  LMT_NOERR(err);
  lmt_device *device = lmt_todevice(L, 1);
  lmt_checkfunction(L, 2);
  lua_settop(L, 2);
  graph *box = begin(L, device, &err);
  if (box == NULL) return lmt_fail(L, &err);
  if (record(L, box) != LUA_OK) {
    free_graph(box);
    return lua_error(L);
  }
  if (box->r) box->r->state->held += box->r->bytes = mt_graph_memory(box->g);
  if (mt_graph_end(box->g, &err) == MT_OK) return 1;
  free_graph(box);
  return lmt_fail(L, &err);
}

/* ---------------------------------------------------------------- using */

static graph *tograph (lua_State *L) {
  graph *box = lmt_checkmarked(L, 1, LMT_GRAPHS, LMT_GRAPH);
  lmt_checkuse(L, box->device->state);
  if (box->g == NULL || box->device->d == NULL) luaL_error(L, "this graph was freed");
  return box;
}

/* Raises if one of its buffers was freed. */
static void check_live (lua_State *L) {
  lua_getiuservalue(L, 1, BUFFERS);
  int kept = lua_gettop(L);
  for (lua_Integer i = 1; lua_rawgeti(L, kept, i) != LUA_TNIL; i++) {
    const lmt_buffer *b = lua_touserdata(L, -1);
    if (!b->live) {
      lua_rawget(L, kept);
      luaL_error(L, "graph: the tensor %s was freed\nrecord the graph again",
                 lua_tostring(L, -1));
    }
    lua_pop(L, 1);
  }
  lua_settop(L, kept - 1);
}

/* graph([stream]): nothing is allocated here; on a GPU it returns at once. */
static int graph_call (lua_State *L) {
  LMT_NOERR(err);
  graph *box = tograph(L);
  lmt_checkidle(L, box->device, "replay");
  mt_stream *stream = lmt_optstream(L, 2, box->device);
  check_live(L);
  lmt_listenhere(L, &err);
  uint64_t n = (uint64_t)mt_graph_size(box->g);
  mt_status s = lmt_permitlaunches(box->device->state, n, &err);
  if (s == MT_OK) s = mt_graph_launch(box->g, stream, &err);
  return s == MT_OK ? 0 : lmt_raise(L, &err);
}

/* graph:size() -> how many launches it has */
static int graph_size (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)mt_graph_size(tograph(L)->g));
  return 1;
}

/* graph:device(): whose launches it has. */
static int graph_device (lua_State *L) {
  tograph(L);
  lua_getiuservalue(L, 1, DEVICE);
  return 1;
}

static int graph_tostring (lua_State *L) {
  const graph *box = luaL_checkudata(L, 1, LMT_GRAPH);
  if (box->g == NULL || box->device->d == NULL)
    return lua_pushliteral(L, "freed graph"), 1;
  lua_Integer n = (lua_Integer)mt_graph_size(box->g);
  lua_pushfstring(L, "graph of %I launch%s on %s", (LUAI_UACINT)n, n == 1 ? "" : "es",
                  lmt_devicename(box->device));
  return 1;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_GRAPH
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__gc", graph_gc},
                                {"__close", graph_free},
                                {"__tostring", graph_tostring},
                                {NULL, NULL}};

void lmt_open_graph (lua_State *L) {
  lmt_setmeta(L, LMT_GRAPH, meta);
  lmt_addrows(L, rows);
}
