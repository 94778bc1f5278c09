package io.dynamo.config.key;

import java.util.List;

/** Settings that a server cannot start with. The message lists every one of them, a line each. */
public final class InvalidSettingsException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  public InvalidSettingsException(List<String> problems) {
    super(
        "%d bad %s; correct them and start again:%n  %s"
            .formatted(
                problems.size(),
                problems.size() == 1 ? "setting" : "settings",
                String.join(System.lineSeparator() + "  ", problems)));
    this.problems = List.copyOf(problems);
  }

  /** Returns one sentence per bad setting. */
  public List<String> problems() {
    return problems;
  }
}
