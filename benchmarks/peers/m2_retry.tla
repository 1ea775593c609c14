------------------------------- MODULE m2_retry -------------------------------
(* M2, 'retry', for TLC: the same actions as ../m2_retry.cpt.  The harness appends the constants to m2_retry.cfg. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Workflows, Sweepers, Workers, FAILURES, ABORT, None

VARIABLES row, first, second, firstQueue, secondQueue, executed, failures,   \* what is stored
          sweeper, swept,                                                    \* sweepers: where they stand, with what
          worker, polled, again                                              \* workers likewise; again: second attempt

vars == <<row, first, second, firstQueue, secondQueue, executed, failures, sweeper, swept, worker, polled, again>>

Init == /\ row = [w \in Workflows |-> "RUNNING"]
        /\ first = [w \in Workflows |-> "SCHEDULED"]
        /\ second = [w \in Workflows |-> "none"]
        /\ firstQueue = Workflows
        /\ secondQueue = {}
        /\ executed = {}
        /\ failures = 0
        /\ sweeper = [s \in Sweepers |-> "idle"]
        /\ swept = [s \in Sweepers |-> None]
        /\ worker = [k \in Workers |-> "idle"]
        /\ polled = [k \in Workers |-> None]
        /\ again = [k \in Workers |-> FALSE]

Ended(p) == p \in {"DONE", "SUPERSEDED"}

------------------------------------------------------------------------------
\* The workers

PollFirst(k, w) == /\ worker[k] = "idle"
                   /\ w \in firstQueue
                   /\ firstQueue' = firstQueue \ {w}
                   /\ polled' = [polled EXCEPT ![k] = w]
                   /\ worker' = [worker EXCEPT ![k] = "begin"]
                   /\ UNCHANGED <<row, first, second, secondQueue, executed, failures, sweeper, swept, again>>

PollSecond(k, w) == /\ worker[k] = "idle"
                    /\ w \in secondQueue
                    /\ secondQueue' = secondQueue \ {w}
                    /\ polled' = [polled EXCEPT ![k] = w]
                    /\ again' = [again EXCEPT ![k] = TRUE]
                    /\ worker' = [worker EXCEPT ![k] = "begin"]
                    /\ UNCHANGED <<row, first, second, firstQueue, executed, failures, sweeper, swept>>

\* The worker is done with its attempt.
Rest(k) == /\ polled' = [polled EXCEPT ![k] = None]
           /\ again' = [again EXCEPT ![k] = FALSE]
           /\ worker' = [worker EXCEPT ![k] = "idle"]

Attempt(k) == IF again[k] THEN second[polled[k]] ELSE first[polled[k]]

SetAttempt(k, p) == IF again[k] THEN /\ second' = [second EXCEPT ![polled[k]] = p]
                                     /\ UNCHANGED first
                                ELSE /\ first' = [first EXCEPT ![polled[k]] = p]
                                     /\ UNCHANGED second

Begin(k) == /\ worker[k] = "begin"
            /\ IF Attempt(k) = "SCHEDULED"
               THEN /\ SetAttempt(k, "IN_PROGRESS")
                    /\ worker' = [worker EXCEPT ![k] = "execute"]
                    /\ UNCHANGED <<polled, again>>
               ELSE /\ Rest(k)
                    /\ UNCHANGED <<first, second>>
            /\ UNCHANGED <<row, firstQueue, secondQueue, executed, failures, sweeper, swept>>

Execute(k) == /\ worker[k] = "execute"
              /\ executed' = executed \union {polled[k]}
              /\ worker' = [worker EXCEPT ![k] = "report"]
              /\ UNCHANGED <<row, first, second, firstQueue, secondQueue, failures, sweeper, swept, polled, again>>

Stall(k) == /\ worker[k] = "execute"
            /\ Rest(k)
            /\ UNCHANGED <<row, first, second, firstQueue, secondQueue, executed, failures, sweeper, swept>>

Report(k) == /\ worker[k] = "report"
             /\ IF Attempt(k) = "IN_PROGRESS" THEN SetAttempt(k, "DONE") ELSE UNCHANGED <<first, second>>
             /\ Rest(k)
             /\ UNCHANGED <<row, firstQueue, secondQueue, executed, failures, sweeper, swept>>

------------------------------------------------------------------------------
\* The sweepers

TimeOut(s, w) == /\ sweeper[s] = "idle"
                 /\ row[w] = "RUNNING"
                 /\ first[w] = "IN_PROGRESS"
                 /\ swept' = [swept EXCEPT ![s] = w]
                 /\ sweeper' = [sweeper EXCEPT ![s] = "insert"]
                 /\ UNCHANGED <<row, first, second, firstQueue, secondQueue, executed, failures, worker, polled, again>>

Insert(s) == /\ sweeper[s] = "insert"
             /\ second' = IF second[swept[s]] = "none" THEN [second EXCEPT ![swept[s]] = "SCHEDULED"] ELSE second
             /\ sweeper' = [sweeper EXCEPT ![s] = "supersede"]
             /\ UNCHANGED <<row, first, firstQueue, secondQueue, executed, failures, swept, worker, polled, again>>

FailToInsert(s) == /\ sweeper[s] = "insert"
                   /\ failures < FAILURES
                   /\ failures' = failures + 1
                   /\ IF ABORT THEN /\ swept' = [swept EXCEPT ![s] = None]
                                    /\ sweeper' = [sweeper EXCEPT ![s] = "idle"]
                               ELSE /\ sweeper' = [sweeper EXCEPT ![s] = "failed"]
                                    /\ UNCHANGED swept
                   /\ UNCHANGED <<row, first, second, firstQueue, secondQueue, executed, worker, polled, again>>

Supersede(s) == /\ sweeper[s] \in {"supersede", "failed"}
                /\ first' = [first EXCEPT ![swept[s]] = "SUPERSEDED"]
                /\ IF sweeper[s] = "failed" THEN /\ swept' = [swept EXCEPT ![s] = None]
                                                 /\ sweeper' = [sweeper EXCEPT ![s] = "idle"]
                                            ELSE /\ sweeper' = [sweeper EXCEPT ![s] = "push"]
                                                 /\ UNCHANGED swept
                /\ UNCHANGED <<row, second, firstQueue, secondQueue, executed, failures, worker, polled, again>>

Push(s) == /\ sweeper[s] = "push"
           /\ secondQueue' = secondQueue \union {swept[s]}
           /\ swept' = [swept EXCEPT ![s] = None]
           /\ sweeper' = [sweeper EXCEPT ![s] = "idle"]
           /\ UNCHANGED <<row, first, second, firstQueue, executed, failures, worker, polled, again>>

GiveUp(s, w) == /\ sweeper[s] = "idle"
                /\ row[w] = "RUNNING"
                /\ second[w] = "IN_PROGRESS"
                /\ second' = [second EXCEPT ![w] = "SUPERSEDED"]
                /\ row' = [row EXCEPT ![w] = "FAILED"]
                /\ UNCHANGED <<first, firstQueue, secondQueue, executed, failures, sweeper, swept, worker, polled,
                               again>>

Complete(s, w) == /\ sweeper[s] = "idle"
                  /\ row[w] = "RUNNING"
                  /\ Ended(first[w])
                  /\ second[w] = "none" \/ Ended(second[w])
                  /\ row' = [row EXCEPT ![w] = "COMPLETED"]
                  /\ UNCHANGED <<first, second, firstQueue, secondQueue, executed, failures, sweeper, swept, worker,
                                 polled, again>>

------------------------------------------------------------------------------

Next == \/ \E k \in Workers : \/ \E w \in Workflows : PollFirst(k, w) \/ PollSecond(k, w)
                              \/ Begin(k) \/ Execute(k) \/ Stall(k) \/ Report(k)
        \/ \E s \in Sweepers : \/ \E w \in Workflows : TimeOut(s, w) \/ GiveUp(s, w) \/ Complete(s, w)
                               \/ Insert(s) \/ FailToInsert(s) \/ Supersede(s) \/ Push(s)

Spec == Init /\ [][Next]_vars

CompletedWasExecuted == \A w \in Workflows : row[w] = "COMPLETED" => w \in executed

Symmetry == Permutations(Workflows) \union Permutations(Sweepers) \union Permutations(Workers)
================================================================================
