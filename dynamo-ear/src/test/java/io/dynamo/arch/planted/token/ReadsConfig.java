package io.dynamo.arch.planted.token;

import org.eclipse.microprofile.config.Config;

/** Core that reads settings itself. */
public record ReadsConfig(Config settings) {}
