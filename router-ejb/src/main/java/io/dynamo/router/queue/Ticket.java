package io.dynamo.router.queue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A request at the queue.
 *
 * @param lane requests of one lane wait for the same ranks: none passes another of its class but by
 *     priority, and lanes do not wait for each other
 * @param policyClass the class or family of classes that it asks for; null is the default
 * @param strictPriority higher goes first
 * @param jumpSeconds how much longer it counts as having waited
 * @param promptTokens for the policy that lets the short ones pass
 */
public record Ticket(
    Object lane,
    @Nullable String policyClass,
    int strictPriority,
    double jumpSeconds,
    int promptTokens,
    Deadline deadline,
    Cancellation cancellation) {}
