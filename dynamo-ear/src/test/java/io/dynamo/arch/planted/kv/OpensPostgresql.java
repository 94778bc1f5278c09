package io.dynamo.arch.planted.kv;

import org.postgresql.Driver;

/** PostgreSQL outside the package of responses. */
public record OpensPostgresql(Driver driver) {}
