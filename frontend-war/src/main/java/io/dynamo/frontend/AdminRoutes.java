package io.dynamo.frontend;

import io.dynamo.pipeline.http.RequestHead;
import io.dynamo.runtime.guard.AdminGuard;
import io.dynamo.runtime.guard.AdminGuard.Objection;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The administrative routes of the frontend, and who may use each. */
public final class AdminRoutes {
  static final String THRESHOLDS = "/busy_threshold";
  static final String EXPLANATIONS = "/router/explain";

  /** The worker's status and drain; open to this machine, always. */
  public static final String WORKER = "/worker";

  /** The console's page and the files that belong to it. */
  public static final String CONSOLE = "/console";

  /** The console's data. */
  public static final String CONSOLE_DATA = "/console/data";

  private final Map<String, AdminGuard> guards; // by the path of the servlet

  /**
   * @param remote whether thresholds and the console are open to other machines
   * @param names of hosts under which the server may be asked, beside addresses
   */
  AdminRoutes(boolean remote, boolean remoteExplanations, List<String> names) {
    guards =
        Map.of(
            THRESHOLDS,
            new AdminGuard(remote, names),
            EXPLANATIONS,
            new AdminGuard(remoteExplanations, names),
            CONSOLE,
            AdminGuard.ofPages(remote, names),
            CONSOLE_DATA,
            AdminGuard.ofPages(remote, names),
            WORKER,
            new AdminGuard(false, names));
  }

  /**
   * Why the caller may not use a route; null when it may, or when the route is for everybody.
   *
   * @param servletPath the part of the path that chose the servlet, decoded
   */
  @Nullable Objection objection(
      String servletPath, @Nullable InetAddress caller, RequestHead head) {
    var guard = guards.get(servletPath);
    return guard == null ? null : guard.objection(caller, head);
  }
}
