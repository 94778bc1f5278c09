package io.dynamo.cli;

/** The exit statuses of the command line. */
final class ExitCode {
  static final int DONE = 0;

  /** The answer is no: a check found problems, or the server refused. */
  static final int REFUSED = 1;

  /** The command line itself is wrong. */
  static final int USAGE = 2;

  /** No server answered. */
  static final int UNREACHABLE = 69;

  private ExitCode() {}
}
