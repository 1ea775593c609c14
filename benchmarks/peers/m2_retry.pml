/* M2, 'retry', for SPIN: the same actions as ../m2_retry.cpt, one d_step each, and control by labels.
   gcc -DWORKFLOWS=3 -DSWEEPERS=2 -DWORKERS=2 -DFAILURES=2 [-DABORT] ..; workflows are 1..WORKFLOWS, 0 is none. */

#define NONE 0
#define SCHEDULED 1
#define IN_PROGRESS 2
#define FINISHED 3
#define SUPERSEDED 4
#define RUNNING 1
#define COMPLETED 2
#define FAILED 3

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

byte row[WORKFLOWS + 1], first[WORKFLOWS + 1], second[WORKFLOWS + 1], failures;
bit first_queued[WORKFLOWS + 1], second_queued[WORKFLOWS + 1], executed[WORKFLOWS + 1];

proctype Worker() {
  byte w;
  bit again;
idle:
  if
#define POLL_FIRST(x) :: d_step { first_queued[x] -> first_queued[x] = 0; w = x }
  ALL(POLL_FIRST)
#define POLL_SECOND(x) :: d_step { second_queued[x] -> second_queued[x] = 0; w = x; again = 1 }
  ALL(POLL_SECOND)
  fi;
  if
  :: d_step { !again && first[w] == SCHEDULED -> first[w] = IN_PROGRESS }
  :: d_step { again && second[w] == SCHEDULED -> second[w] = IN_PROGRESS }
  :: d_step { (again -> second[w] : first[w]) != SCHEDULED -> w = NONE; again = 0 }; goto idle
  fi;
  if
  :: executed[w] = 1
  :: d_step { w = NONE; again = 0 }; goto idle
  fi;
  d_step {
    if
    :: !again && first[w] == IN_PROGRESS -> first[w] = FINISHED
    :: again && second[w] == IN_PROGRESS -> second[w] = FINISHED
    :: else
    fi;
    w = NONE;
    again = 0
  };
  goto idle
}

#define ENDED(p) (p == FINISHED || p == SUPERSEDED)

proctype Sweeper() {
  byte w;
idle:
  if
#define TIME_OUT(x) :: d_step { row[x] == RUNNING && first[x] == IN_PROGRESS -> w = x }
  ALL(TIME_OUT)
#define GIVE_UP(x) :: d_step { row[x] == RUNNING && second[x] == IN_PROGRESS -> second[x] = SUPERSEDED; row[x] = FAILED }; goto idle
  ALL(GIVE_UP)
#define COMPLETE(x) :: d_step { row[x] == RUNNING && ENDED(first[x]) && (second[x] == NONE || ENDED(second[x])) -> row[x] = COMPLETED }; goto idle
  ALL(COMPLETE)
  fi;
  if
  :: d_step { if :: second[w] == NONE -> second[w] = SCHEDULED :: else fi }
#ifdef ABORT
  :: d_step { failures < FAILURES -> failures++; w = NONE }; goto idle
#else
  :: d_step { failures < FAILURES -> failures++ }; goto failed
#endif
  fi;
  first[w] = SUPERSEDED;
  d_step { second_queued[w] = 1; w = NONE };
  goto idle;
#ifndef ABORT
failed:
  if
  :: d_step { first[w] = SUPERSEDED; w = NONE }
  fi;
  goto idle
#endif
}

#define SAFE(w) && (row[w] != COMPLETED || executed[w])

/* It can move only where the property is broken, and so adds no states. */
active proctype Watch() {
  d_step { !(true ALL(SAFE)) -> assert(false) }
}

init {
  atomic {
#define BEGIN(w) row[w] = RUNNING; first[w] = SCHEDULED; first_queued[w] = 1;
    ALL(BEGIN)
    run Sweeper();
#if SWEEPERS > 1
    run Sweeper();
#endif
#if SWEEPERS > 2
    run Sweeper();
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
