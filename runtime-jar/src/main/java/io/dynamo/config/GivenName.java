package io.dynamo.config;

/**
 * A name under which something is set, whether it means something or not.
 *
 * @param isVariable whether it is a variable of the environment, which spells a key in its own way
 * @param shown the name and where it stands, for messages
 */
record GivenName(String name, boolean isVariable, String shown) {
  static GivenName variable(String name) {
    return new GivenName(name, true, "the variable " + name);
  }

  /**
   * @param place a file, or what else holds names
   */
  static GivenName in(String place, String name) {
    return new GivenName(name, false, name + " (in " + place + ")");
  }
}
