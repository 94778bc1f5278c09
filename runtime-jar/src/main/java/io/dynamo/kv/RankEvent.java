package io.dynamo.kv;

/** An event and the rank whose cache it changes: Dynamo's {@code RouterEvent}, device tier. */
public record RankEvent(WorkerRank rank, KvEvent event) {}
