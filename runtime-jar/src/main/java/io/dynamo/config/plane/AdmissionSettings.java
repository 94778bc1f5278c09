package io.dynamo.config.plane;

/**
 * How many requests a worker takes. Keys: {@code dynamo.request.tcp.max-concurrent-requests} and
 * {@code work-queue}, or with strict admission {@code engine-request-limit} and {@code
 * engine-queue-limit}.
 *
 * @param running at once
 * @param waiting for their turn; more are refused
 */
public record AdmissionSettings(int running, int waiting) {}
