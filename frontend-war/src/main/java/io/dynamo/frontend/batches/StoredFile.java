package io.dynamo.frontend.batches;

/**
 * The description of a stored file, without its content.
 *
 * @param owner who may see it, see {@link Owners}
 * @param expiresMillis when it is deleted
 * @param purpose {@code batch}, or {@code batch_output} for results
 */
public record StoredFile(
    String id,
    String owner,
    long createdMillis,
    long expiresMillis,
    long bytes,
    String name,
    String purpose) {}
