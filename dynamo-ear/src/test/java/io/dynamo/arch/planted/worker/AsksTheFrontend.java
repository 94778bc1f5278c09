package io.dynamo.arch.planted.worker;

import io.dynamo.arch.planted.frontend.Page;

/** A WAR imports the other. */
public record AsksTheFrontend(Page other) {}
