package io.dynamo.config;

/**
 * A name under which a value is set, known or unknown.
 *
 * @param isVariable whether it is an environment variable, which spells a key differently
 * @param shown the name and its place, for messages
 */
record GivenName(String name, boolean isVariable, String shown) {
  static GivenName variable(String name) {
    return new GivenName(name, true, "the variable " + name);
  }

  /**
   * @param place the file, or other source, that sets the name
   */
  static GivenName in(String place, String name) {
    return new GivenName(name, false, name + " (in " + place + ")");
  }
}
