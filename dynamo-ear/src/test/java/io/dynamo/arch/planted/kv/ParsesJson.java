package io.dynamo.arch.planted.kv;

import com.fasterxml.jackson.core.JsonParser;

/** JSON away from the edges. */
public record ParsesJson(JsonParser json) {}
