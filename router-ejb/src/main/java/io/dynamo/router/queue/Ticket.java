package io.dynamo.router.queue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;

/**
 * A request at the queue.
 *
 * @param lane requests of one lane wait for the same ranks: none passes another but by priority,
 *     and lanes do not wait for each other
 * @param strictPriority higher goes first
 * @param jumpSeconds how much longer it counts as having waited
 * @param promptTokens for the policy that lets the short ones pass
 */
public record Ticket(
    Object lane,
    int strictPriority,
    double jumpSeconds,
    int promptTokens,
    Deadline deadline,
    Cancellation cancellation) {}
