package io.dynamo.config.plane;

/**
 * The number of requests that a worker admits. Keys: {@code
 * dynamo.request.tcp.max-concurrent-requests} and {@code work-queue}, or with strict admission
 * {@code engine-request-limit} and {@code engine-queue-limit}.
 *
 * @param running requests at once
 * @param waiting requests that wait for their turn; further ones are refused
 */
public record AdmissionSettings(int running, int waiting) {}
