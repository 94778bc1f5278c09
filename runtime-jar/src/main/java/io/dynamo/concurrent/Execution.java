package io.dynamo.concurrent;

import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The threads and the clock that a service uses.
 *
 * @param blocking runs each task on a virtual thread of its own
 * @param timer for tasks that never wait
 * @param clock of the times that others see
 */
public record Execution(Executor blocking, ScheduledExecutorService timer, InstantSource clock) {}
