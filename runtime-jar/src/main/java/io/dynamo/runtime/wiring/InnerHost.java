package io.dynamo.runtime.wiring;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletContext;
import org.jspecify.annotations.Nullable;

/**
 * The container's virtual host {@code inner}, which no port serves: its modules are reached only by
 * requests that a module of the HTTP port forwards to them. It has the container's own pages
 * ({@code /metrics}, {@code /health}) and one module of the application, which opens the way. Safe
 * for concurrent use.
 */
@ApplicationScoped
public class InnerHost {
  private volatile @Nullable ServletContext member;

  /** For the container. */
  public InnerHost() {}

  /** Opens the way through {@code module}, a module of that host. */
  public void enter(ServletContext module) {
    member = module;
  }

  /** Closes the way, when its module ends. */
  public void leave() {
    member = null;
  }

  /**
   * Returns the forwarder to a module of the host; null while the host or the module is not there.
   *
   * @param root the module's context root, with its slash
   * @param path below the root, with its slash
   */
  public @Nullable RequestDispatcher find(String root, String path) {
    var through = member;
    var module = through == null ? null : through.getContext(root);
    return module == null ? null : module.getRequestDispatcher(path);
  }
}
