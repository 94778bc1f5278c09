package io.dynamo.frontend.preprocess.jinja;

/** Python's {@code None}, so that no value is null. */
enum None {
  NONE
}
