package io.dynamo.worker.engine.remote;

/** A server's answer that is not streamed. The array is owned by the record and never changed. */
public record EngineAnswer(int statusCode, byte[] body) {}
