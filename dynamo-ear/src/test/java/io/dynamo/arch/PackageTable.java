package io.dynamo.arch;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.Set;

/** Where a class belongs: its module, and its row among the packages of the runtime. Immutable. */
final class PackageTable {
  /** The modules that hold Java code, and those each may import besides itself. */
  private enum Module {
    NATIVE,
    RUNTIME,
    ROUTER,
    FRONTEND,
    WORKER,
    CLI;

    boolean mayImport(Module other) {
      return this == other
          || switch (this) {
            case NATIVE -> false;
            case RUNTIME -> other == NATIVE;
            case ROUTER -> other == RUNTIME;
            case FRONTEND -> other == ROUTER || other == RUNTIME || other == NATIVE;
            case WORKER, CLI -> other == RUNTIME || other == NATIVE;
          };
    }
  }

  /** From the bottom up; a package imports its own row and those before it. */
  private static final List<Set<String>> ROWS =
      List.of(
          Set.of("concurrent", "config", "error", "metrics", "json", "net", "trace"),
          Set.of("token", "model", "inference", "nats"),
          Set.of("discovery"),
          Set.of("kv"),
          Set.of("wire"),
          Set.of("transfer", "request", "event", "block", "runtime"));

  private final String root;

  /**
   * @param root the package above all others
   */
  PackageTable(String root) {
    this.root = root;
  }

  boolean holds(JavaClass type) {
    return type.getPackageName().startsWith(root + ".");
  }

  /** The package below the root, {@code request.tcp} for example. */
  String packageOf(JavaClass type) {
    return type.getPackageName().substring(root.length() + 1);
  }

  boolean mayImportModuleOf(JavaClass from, JavaClass to) {
    return moduleOf(from).mayImport(moduleOf(to));
  }

  boolean mayImportRowOf(JavaClass from, JavaClass to) {
    return moduleOf(from) != Module.RUNTIME
        || moduleOf(to) != Module.RUNTIME
        || rowOf(to) <= rowOf(from);
  }

  /** Whether the class is the runtime's, and so in no module with a table of its own. */
  boolean isRuntime(JavaClass type) {
    return moduleOf(type) == Module.RUNTIME;
  }

  /** Whether the runtime's packages above know where this one belongs. */
  boolean knows(JavaClass type) {
    return !isRuntime(type) || rowOf(type) < ROWS.size();
  }

  private Module moduleOf(JavaClass type) {
    return switch (firstName(type)) {
      case "natives", "pipeline" -> Module.NATIVE;
      case "router" -> Module.ROUTER;
      case "frontend" -> Module.FRONTEND;
      case "worker" -> Module.WORKER;
      case "cli" -> Module.CLI;
      default -> Module.RUNTIME;
    };
  }

  private int rowOf(JavaClass type) {
    var name = firstName(type);
    for (int row = 0; row < ROWS.size(); row++) {
      if (ROWS.get(row).contains(name)) {
        return row;
      }
    }
    return ROWS.size();
  }

  private String firstName(JavaClass type) {
    return packageOf(type).replaceFirst("\\..*", "");
  }
}
