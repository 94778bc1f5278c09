package io.dynamo.arch.planted.kv;

import java.sql.Connection;

/** A database outside the package of responses. */
public record AsksDatabase(Connection connection) {}
