/* M1, 'start', for SPIN: the same actions as ../m1_start.cpt, one d_step each, and control by labels.
   gcc -DWORKFLOWS=3 -DSERVERS=2 -DWORKERS=2 -DCRASHES=2 [-DRESCAN] ..; workflows are 1..WORKFLOWS, 0 is none. */

#define NONE 0
#define RUNNING 1
#define COMPLETED 2
#define SCHEDULED 1
#define IN_PROGRESS 2
#define FINISHED 3

#if WORKFLOWS == 1
#define ALL(X) X(1)
#elif WORKFLOWS == 2
#define ALL(X) X(1) X(2)
#elif WORKFLOWS == 3
#define ALL(X) X(1) X(2) X(3)
#elif WORKFLOWS == 4
#define ALL(X) X(1) X(2) X(3) X(4)
#elif WORKFLOWS == 5
#define ALL(X) X(1) X(2) X(3) X(4) X(5)
#else
#error "WORKFLOWS is 1 to 5"
#endif

bit requested[WORKFLOWS + 1], acknowledged[WORKFLOWS + 1], decider[WORKFLOWS + 1], tasks[WORKFLOWS + 1];
byte row[WORKFLOWS + 1], progress[WORKFLOWS + 1];
byte starting[SERVERS], deciding, crashes, down;

#define MAY_CRASH :: d_step { crashes < CRASHES -> crashes++; down++; starting[me] = NONE }; goto crashed

proctype Server(byte me) {
idle:
  if
#define TAKE(w) :: d_step { !requested[w] -> requested[w] = 1; starting[me] = w }
  ALL(TAKE)
  MAY_CRASH
  fi;
  if
  :: row[starting[me]] = RUNNING
  MAY_CRASH
  fi;
  if
  :: decider[starting[me]] = 1
  MAY_CRASH
  fi;
  if
  :: d_step { acknowledged[starting[me]] = 1; starting[me] = NONE }; goto idle
  MAY_CRASH
  fi;
crashed:
  if
  :: d_step {
#ifdef RESCAN
#define REQUEUE(w) decider[w] = decider[w] || (row[w] == RUNNING && progress[w] == NONE);
       ALL(REQUEUE)
#endif
       down--
     }
  fi;
  goto idle
}

active proctype Sweeper() {
idle:
  if
#define POP(w) :: d_step { decider[w] -> decider[w] = 0; deciding = w }
  ALL(POP)
#define COMPLETE(w) :: d_step { progress[w] == FINISHED && row[w] == RUNNING -> row[w] = COMPLETED }; goto idle
  ALL(COMPLETE)
  fi;
  if
  :: d_step { progress[deciding] == NONE -> progress[deciding] = SCHEDULED }
  :: d_step { progress[deciding] != NONE -> deciding = NONE }; goto idle
  fi;
  d_step { tasks[deciding] = 1; deciding = NONE };
  goto idle
}

proctype Worker() {
  byte w;
idle:
  if
#define POLL(x) :: d_step { tasks[x] -> tasks[x] = 0; w = x }
  ALL(POLL)
  fi;
  progress[w] = IN_PROGRESS;
  d_step { progress[w] = FINISHED; w = NONE };
  goto idle
}

#if SERVERS == 1
#define HANDLED(w) starting[0] == w
#elif SERVERS == 2
#define HANDLED(w) (starting[0] == w || starting[1] == w)
#elif SERVERS == 3
#define HANDLED(w) (starting[0] == w || starting[1] == w || starting[2] == w)
#else
#error "SERVERS is 1 to 3"
#endif
#define KEPT(w) && (!acknowledged[w] || row[w] != NONE)
#define HELD(w) && (row[w] != RUNNING || HANDLED(w) || deciding == w || decider[w] || progress[w] != NONE)

/* It can move only where the property is broken, and so adds no states. */
active proctype Watch() {
  d_step { !(true ALL(KEPT)) || (down == 0 && !(true ALL(HELD))) -> assert(false) }
}

init {
  atomic {
    run Server(0);
#if SERVERS > 1
    run Server(1);
#endif
#if SERVERS > 2
    run Server(2);
#endif
    run Worker();
#if WORKERS > 1
    run Worker();
#endif
#if WORKERS > 2
    run Worker();
#endif
  }
}
