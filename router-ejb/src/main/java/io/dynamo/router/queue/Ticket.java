package io.dynamo.router.queue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A request at the queue.
 *
 * @param lane requests of one lane wait for the same ranks; one overtakes another of its class only
 *     by priority, and lanes do not wait for each other
 * @param policyClass the class or family of classes that the request names; null is the default
 * @param strictPriority a higher value goes first
 * @param jumpSeconds seconds that are added to the time the request has waited
 * @param promptTokens prompt length in tokens, for the policy that prefers short prompts
 */
public record Ticket(
    Object lane,
    @Nullable String policyClass,
    int strictPriority,
    double jumpSeconds,
    int promptTokens,
    Deadline deadline,
    Cancellation cancellation) {}
