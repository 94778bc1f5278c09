package io.dynamo.arch.planted.kv;

import com.dynatrace.hash4j.hashing.Hasher64;

/** Hashes outside their package. */
public record Hashes(Hasher64 hasher) {}
