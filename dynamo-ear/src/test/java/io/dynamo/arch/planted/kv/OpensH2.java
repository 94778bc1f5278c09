package io.dynamo.arch.planted.kv;

import org.h2.Driver;

/** H2 outside the package of responses. */
public record OpensH2(Driver driver) {}
