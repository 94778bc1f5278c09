package io.dynamo.frontend.preprocess.jinja;

import java.util.List;
import java.util.Map;

/** Something a template can call: a macro, a method bound to its value, a global function. */
@FunctionalInterface
interface Function {
  Object call(List<Object> positional, Map<String, Object> named);
}
