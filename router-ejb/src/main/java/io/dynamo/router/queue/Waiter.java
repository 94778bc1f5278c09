package io.dynamo.router.queue;

import java.util.Comparator;
import java.util.concurrent.locks.Condition;

/** A waiting request. Guarded by the lock of its queue. */
final class Waiter {
  /** The order in which waiters of one class try. */
  static final Comparator<Waiter> ORDER =
      Comparator.<Waiter>comparingInt(waiter -> waiter.ticket.strictPriority())
          .reversed()
          .thenComparingDouble(waiter -> -waiter.score)
          .thenComparingLong(waiter -> waiter.number);

  final Ticket ticket;
  final int policyClass;
  final long cachedTokens;
  final double score;
  final long number;
  final Condition turn;
  boolean cancelled;

  Waiter(
      Ticket ticket,
      int policyClass,
      long cachedTokens,
      double score,
      long number,
      Condition turn) {
    this.ticket = ticket;
    this.policyClass = policyClass;
    this.cachedTokens = cachedTokens;
    this.score = score;
    this.number = number;
    this.turn = turn;
  }

  /** Returns the tokens to prefill; at least 1, so that every turn costs something. */
  long cost() {
    return Math.max(1, ticket.promptTokens() - cachedTokens);
  }
}
