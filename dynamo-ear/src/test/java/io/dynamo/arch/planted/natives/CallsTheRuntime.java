package io.dynamo.arch.planted.natives;

import io.dynamo.arch.planted.runtime.Assembly;

/** The bottom imports what stands on it. */
public record CallsTheRuntime(Assembly above) {}
