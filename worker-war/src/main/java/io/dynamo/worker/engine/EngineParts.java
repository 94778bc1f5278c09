package io.dynamo.worker.engine;

/**
 * An engine with its load and pass reports.
 *
 * @param load usually the same object as {@code engine}
 * @param passes usually the same object; for an engine without passes, one that reports none
 */
public record EngineParts(Engine engine, LoadReport load, PassReport passes) {
  public static <E extends Engine & LoadReport & PassReport> EngineParts of(E engine) {
    return new EngineParts(engine, engine, engine);
  }
}
