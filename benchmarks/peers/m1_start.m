-- M1, 'start', for Murphi (rumur): the same actions as ../m1_start.cpt, one rule each.  What is in nobody's hand is
-- undefined.  The harness sets the constants.

const
  WORKFLOWS: 3;
  SERVERS: 2;
  WORKERS: 2;
  CRASHES: 2;
  RESCAN: 1;

type
  workflow: scalarset(WORKFLOWS);
  server: scalarset(SERVERS);
  worker: scalarset(WORKERS);
  row_state: enum { no_row, running, completed };
  task_state: enum { no_task, scheduled, in_progress, finished };
  server_place: enum { serving, inserting, pushing, acknowledging, crashed };
  sweeper_place: enum { sweeping, scheduling, dispatching };
  worker_place: enum { polling, beginning, finishing };

var
  row: array [workflow] of row_state;
  task: array [workflow] of task_state;
  requested: array [workflow] of boolean;
  acknowledged: array [workflow] of boolean;
  decider: array [workflow] of boolean;
  tasks: array [workflow] of boolean;
  at: array [server] of server_place;
  starting: array [server] of workflow;
  sweeper_at: sweeper_place;
  deciding: workflow;
  worker_at: array [worker] of worker_place;
  doing: array [worker] of workflow;
  crashes: 0 .. CRASHES;

startstate
begin
  for w: workflow do
    row[w] := no_row;
    task[w] := no_task;
    requested[w] := false;
    acknowledged[w] := false;
    decider[w] := false;
    tasks[w] := false;
  endfor;
  for s: server do
    at[s] := serving;
    undefine starting[s];
  endfor;
  sweeper_at := sweeping;
  undefine deciding;
  for k: worker do
    worker_at[k] := polling;
    undefine doing[k];
  endfor;
  crashes := 0;
endstartstate;

ruleset s: server do
  ruleset w: workflow do
    rule "take a request" at[s] = serving & !requested[w] ==>
    begin
      requested[w] := true;
      starting[s] := w;
      at[s] := inserting;
    endrule;
  endruleset;

  rule "insert the row" at[s] = inserting ==>
  begin
    row[starting[s]] := running;
    at[s] := pushing;
  endrule;

  rule "push on the decider queue" at[s] = pushing ==>
  begin
    decider[starting[s]] := true;
    at[s] := acknowledging;
  endrule;

  rule "acknowledge" at[s] = acknowledging ==>
  begin
    acknowledged[starting[s]] := true;
    undefine starting[s];
    at[s] := serving;
  endrule;

  rule "crash" at[s] != crashed & crashes < CRASHES ==>
  begin
    crashes := crashes + 1;
    undefine starting[s];
    at[s] := crashed;
  endrule;

  rule "restart" at[s] = crashed ==>
  begin
    if RESCAN = 1 then
      for w: workflow do
        if row[w] = running & task[w] = no_task then
          decider[w] := true;
        endif;
      endfor;
    endif;
    at[s] := serving;
  endrule;
endruleset;

ruleset w: workflow do
  rule "pop" sweeper_at = sweeping & decider[w] ==>
  begin
    decider[w] := false;
    deciding := w;
    sweeper_at := scheduling;
  endrule;

  rule "complete" sweeper_at = sweeping & task[w] = finished & row[w] = running ==>
  begin
    row[w] := completed;
  endrule;
endruleset;

rule "schedule its task" sweeper_at = scheduling ==>
begin
  if task[deciding] = no_task then
    task[deciding] := scheduled;
    sweeper_at := dispatching;
  else
    undefine deciding;
    sweeper_at := sweeping;
  endif;
endrule;

rule "push on the task queue" sweeper_at = dispatching ==>
begin
  tasks[deciding] := true;
  undefine deciding;
  sweeper_at := sweeping;
endrule;

ruleset k: worker do
  ruleset w: workflow do
    rule "poll" worker_at[k] = polling & tasks[w] ==>
    begin
      tasks[w] := false;
      doing[k] := w;
      worker_at[k] := beginning;
    endrule;
  endruleset;

  rule "begin" worker_at[k] = beginning ==>
  begin
    task[doing[k]] := in_progress;
    worker_at[k] := finishing;
  endrule;

  rule "finish" worker_at[k] = finishing ==>
  begin
    task[doing[k]] := finished;
    undefine doing[k];
    worker_at[k] := polling;
  endrule;
endruleset;

invariant "acknowledged is kept"
  forall w: workflow do acknowledged[w] -> row[w] != no_row endforall;

invariant "none abandoned"
  (forall s: server do at[s] != crashed endforall) ->
    forall w: workflow do
      row[w] != running | decider[w] | task[w] != no_task
        | (!isundefined(deciding) & deciding = w)
        | exists s: server do !isundefined(starting[s]) & starting[s] = w endexists
    endforall;
