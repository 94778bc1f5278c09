package io.dynamo.worker.engine;

/**
 * An engine with what it tells.
 *
 * @param load usually the same object
 * @param passes usually the same object; of an engine without passes, one that tells of none
 */
public record EngineParts(Engine engine, LoadReport load, PassReport passes) {
  public static <E extends Engine & LoadReport & PassReport> EngineParts of(E engine) {
    return new EngineParts(engine, engine, engine);
  }
}
