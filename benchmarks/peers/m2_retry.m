-- M2, 'retry', for Murphi (rumur): the same actions as ../m2_retry.cpt, one rule each.  What is in nobody's hand is
-- undefined.  The harness sets the constants.

const
  WORKFLOWS: 3;
  SWEEPERS: 2;
  WORKERS: 2;
  FAILURES: 2;
  ABORT: 1;

type
  workflow: scalarset(WORKFLOWS);
  sweeper: scalarset(SWEEPERS);
  worker: scalarset(WORKERS);
  attempt: 0 .. 1;
  row_state: enum { running, completed, failed };
  task_state: enum { none, scheduled, in_progress, finished, superseded };
  sweeper_place: enum { sweeping, inserting, superseding, superseding_only, pushing };
  worker_place: enum { polling, beginning, executing, reporting };

var
  row: array [workflow] of row_state;
  task: array [workflow] of array [attempt] of task_state;
  queued: array [workflow] of array [attempt] of boolean;
  executed: array [workflow] of boolean;
  at: array [sweeper] of sweeper_place;
  retrying: array [sweeper] of workflow;
  worker_at: array [worker] of worker_place;
  doing: array [worker] of workflow;
  try: array [worker] of attempt;
  failures: 0 .. FAILURES;

startstate
begin
  for w: workflow do
    row[w] := running;
    task[w][0] := scheduled;
    task[w][1] := none;
    queued[w][0] := true;
    queued[w][1] := false;
    executed[w] := false;
  endfor;
  for s: sweeper do
    at[s] := sweeping;
    undefine retrying[s];
  endfor;
  for k: worker do
    worker_at[k] := polling;
    undefine doing[k];
    undefine try[k];
  endfor;
  failures := 0;
endstartstate;

ruleset k: worker do
  ruleset w: workflow; a: attempt do
    rule "poll" worker_at[k] = polling & queued[w][a] ==>
    begin
      queued[w][a] := false;
      doing[k] := w;
      try[k] := a;
      worker_at[k] := beginning;
    endrule;
  endruleset;

  rule "begin" worker_at[k] = beginning ==>
  begin
    if task[doing[k]][try[k]] = scheduled then
      task[doing[k]][try[k]] := in_progress;
      worker_at[k] := executing;
    else
      undefine doing[k];
      undefine try[k];
      worker_at[k] := polling;
    endif;
  endrule;

  rule "execute" worker_at[k] = executing ==>
  begin
    executed[doing[k]] := true;
    worker_at[k] := reporting;
  endrule;

  rule "stall" worker_at[k] = executing ==>
  begin
    undefine doing[k];
    undefine try[k];
    worker_at[k] := polling;
  endrule;

  rule "report" worker_at[k] = reporting ==>
  begin
    if task[doing[k]][try[k]] = in_progress then
      task[doing[k]][try[k]] := finished;
    endif;
    undefine doing[k];
    undefine try[k];
    worker_at[k] := polling;
  endrule;
endruleset;

ruleset s: sweeper do
  ruleset w: workflow do
    rule "time out" at[s] = sweeping & row[w] = running & task[w][0] = in_progress ==>
    begin
      retrying[s] := w;
      at[s] := inserting;
    endrule;

    rule "give up" at[s] = sweeping & row[w] = running & task[w][1] = in_progress ==>
    begin
      task[w][1] := superseded;
      row[w] := failed;
    endrule;

    rule "complete"
      at[s] = sweeping & row[w] = running
        & (task[w][0] = finished | task[w][0] = superseded)
        & (task[w][1] = none | task[w][1] = finished | task[w][1] = superseded)
    ==>
    begin
      row[w] := completed;
    endrule;
  endruleset;

  rule "insert the second attempt" at[s] = inserting ==>
  begin
    if task[retrying[s]][1] = none then
      task[retrying[s]][1] := scheduled;
    endif;
    at[s] := superseding;
  endrule;

  rule "fail to insert it" at[s] = inserting & failures < FAILURES ==>
  begin
    failures := failures + 1;
    if ABORT = 1 then
      undefine retrying[s];
      at[s] := sweeping;
    else
      at[s] := superseding_only;
    endif;
  endrule;

  rule "supersede the first attempt" at[s] = superseding ==>
  begin
    task[retrying[s]][0] := superseded;
    at[s] := pushing;
  endrule;

  rule "supersede the first attempt, without a second" at[s] = superseding_only ==>
  begin
    task[retrying[s]][0] := superseded;
    undefine retrying[s];
    at[s] := sweeping;
  endrule;

  rule "push the second attempt" at[s] = pushing ==>
  begin
    queued[retrying[s]][1] := true;
    undefine retrying[s];
    at[s] := sweeping;
  endrule;
endruleset;

invariant "completed was executed"
  forall w: workflow do row[w] = completed -> executed[w] endforall;
