package io.dynamo.wire.event;

/**
 * An event as it is sent.
 *
 * @param publisherId random, at most 2^53 - 1
 * @param sequence from 0 per publisher, increasing by one
 * @param publishedAtMillis UNIX time
 * @param payload owned by the receiver
 */
public record EventEnvelope(
    long publisherId, long sequence, long publishedAtMillis, String topic, byte[] payload) {}
