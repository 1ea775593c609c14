------------------------------- MODULE m1_start -------------------------------
(* M1, 'start', for TLC: the same actions as ../m1_start.cpt.  The harness appends the constants to m1_start.cfg. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Workflows, Servers, Workers, CRASHES, RESCAN, None

VARIABLES requested, acknowledged, row, progress, decider, tasks,   \* what is stored
          server, starting, crashes,                                \* servers: where they stand, what they have in hand
          sweeper, deciding,                                        \* the sweeper likewise
          worker, polled                                            \* workers likewise

vars == <<requested, acknowledged, row, progress, decider, tasks, server, starting, crashes, sweeper, deciding, worker,
          polled>>

Init == /\ requested = {}
        /\ acknowledged = {}
        /\ row = [w \in Workflows |-> "none"]
        /\ progress = [w \in Workflows |-> "none"]
        /\ decider = {}
        /\ tasks = {}
        /\ server = [s \in Servers |-> "idle"]
        /\ starting = [s \in Servers |-> None]
        /\ crashes = 0
        /\ sweeper = "idle"
        /\ deciding = None
        /\ worker = [k \in Workers |-> "idle"]
        /\ polled = [k \in Workers |-> None]

------------------------------------------------------------------------------
\* The servers

Take(s, w) == /\ server[s] = "idle"
              /\ w \notin requested
              /\ requested' = requested \union {w}
              /\ starting' = [starting EXCEPT ![s] = w]
              /\ server' = [server EXCEPT ![s] = "insert"]
              /\ UNCHANGED <<acknowledged, row, progress, decider, tasks, crashes, sweeper, deciding, worker, polled>>

InsertRow(s) == /\ server[s] = "insert"
                /\ row' = [row EXCEPT ![starting[s]] = "RUNNING"]
                /\ server' = [server EXCEPT ![s] = "enqueue"]
                /\ UNCHANGED <<requested, acknowledged, progress, decider, tasks, starting, crashes, sweeper, deciding,
                               worker, polled>>

Enqueue(s) == /\ server[s] = "enqueue"
              /\ decider' = decider \union {starting[s]}
              /\ server' = [server EXCEPT ![s] = "acknowledge"]
              /\ UNCHANGED <<requested, acknowledged, row, progress, tasks, starting, crashes, sweeper, deciding,
                             worker, polled>>

Acknowledge(s) == /\ server[s] = "acknowledge"
                  /\ acknowledged' = acknowledged \union {starting[s]}
                  /\ starting' = [starting EXCEPT ![s] = None]
                  /\ server' = [server EXCEPT ![s] = "idle"]
                  /\ UNCHANGED <<requested, row, progress, decider, tasks, crashes, sweeper, deciding, worker, polled>>

Crash(s) == /\ server[s] # "down"
            /\ crashes < CRASHES
            /\ crashes' = crashes + 1
            /\ starting' = [starting EXCEPT ![s] = None]
            /\ server' = [server EXCEPT ![s] = "down"]
            /\ UNCHANGED <<requested, acknowledged, row, progress, decider, tasks, sweeper, deciding, worker, polled>>

Restart(s) == /\ server[s] = "down"
              /\ server' = [server EXCEPT ![s] = "idle"]
              /\ decider' = IF RESCAN THEN decider \union {w \in Workflows : row[w] = "RUNNING" /\ progress[w] = "none"}
                                      ELSE decider
              /\ UNCHANGED <<requested, acknowledged, row, progress, tasks, starting, crashes, sweeper, deciding,
                             worker, polled>>

------------------------------------------------------------------------------
\* The sweeper

Pop(w) == /\ sweeper = "idle"
          /\ w \in decider
          /\ decider' = decider \ {w}
          /\ deciding' = w
          /\ sweeper' = "schedule"
          /\ UNCHANGED <<requested, acknowledged, row, progress, tasks, server, starting, crashes, worker, polled>>

Schedule == /\ sweeper = "schedule"
            /\ IF progress[deciding] = "none"
               THEN /\ progress' = [progress EXCEPT ![deciding] = "SCHEDULED"]
                    /\ sweeper' = "push"
                    /\ UNCHANGED deciding
               ELSE /\ deciding' = None
                    /\ sweeper' = "idle"
                    /\ UNCHANGED progress
            /\ UNCHANGED <<requested, acknowledged, row, decider, tasks, server, starting, crashes, worker, polled>>

Push == /\ sweeper = "push"
        /\ tasks' = tasks \union {deciding}
        /\ deciding' = None
        /\ sweeper' = "idle"
        /\ UNCHANGED <<requested, acknowledged, row, progress, decider, server, starting, crashes, worker, polled>>

Complete(w) == /\ sweeper = "idle"
               /\ progress[w] = "DONE"
               /\ row[w] = "RUNNING"
               /\ row' = [row EXCEPT ![w] = "COMPLETED"]
               /\ UNCHANGED <<requested, acknowledged, progress, decider, tasks, server, starting, crashes, sweeper,
                              deciding, worker, polled>>

------------------------------------------------------------------------------
\* The workers

Poll(k, w) == /\ worker[k] = "idle"
              /\ w \in tasks
              /\ tasks' = tasks \ {w}
              /\ polled' = [polled EXCEPT ![k] = w]
              /\ worker' = [worker EXCEPT ![k] = "begin"]
              /\ UNCHANGED <<requested, acknowledged, row, progress, decider, server, starting, crashes, sweeper,
                             deciding>>

Begin(k) == /\ worker[k] = "begin"
            /\ progress' = [progress EXCEPT ![polled[k]] = "IN_PROGRESS"]
            /\ worker' = [worker EXCEPT ![k] = "finish"]
            /\ UNCHANGED <<requested, acknowledged, row, decider, tasks, server, starting, crashes, sweeper, deciding,
                           polled>>

Finish(k) == /\ worker[k] = "finish"
             /\ progress' = [progress EXCEPT ![polled[k]] = "DONE"]
             /\ polled' = [polled EXCEPT ![k] = None]
             /\ worker' = [worker EXCEPT ![k] = "idle"]
             /\ UNCHANGED <<requested, acknowledged, row, decider, tasks, server, starting, crashes, sweeper, deciding>>

------------------------------------------------------------------------------

Next == \/ \E s \in Servers : \/ \E w \in Workflows : Take(s, w)
                              \/ InsertRow(s) \/ Enqueue(s) \/ Acknowledge(s) \/ Crash(s) \/ Restart(s)
        \/ \E w \in Workflows : Pop(w) \/ Complete(w)
        \/ Schedule \/ Push
        \/ \E k \in Workers : \/ \E w \in Workflows : Poll(k, w)
                              \/ Begin(k) \/ Finish(k)

Spec == Init /\ [][Next]_vars

AcknowledgedIsKept == \A w \in acknowledged : row[w] # "none"

NoneAbandoned == (\A s \in Servers : server[s] # "down") =>
                 \A w \in Workflows : row[w] = "RUNNING" =>
                   \/ \E s \in Servers : starting[s] = w
                   \/ deciding = w
                   \/ w \in decider
                   \/ progress[w] # "none"

Symmetry == Permutations(Workflows) \union Permutations(Servers) \union Permutations(Workers)
================================================================================
