package io.dynamo.arch.planted.kv;

import org.yaml.snakeyaml.LoaderOptions;

/** YAML outside its package. */
public record ParsesYaml(LoaderOptions options) {}
