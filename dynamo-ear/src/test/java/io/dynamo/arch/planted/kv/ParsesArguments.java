package io.dynamo.arch.planted.kv;

import picocli.CommandLine;

/** picocli outside the command line. */
public record ParsesArguments(CommandLine parser) {}
