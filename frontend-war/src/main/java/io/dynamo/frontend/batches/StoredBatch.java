package io.dynamo.frontend.batches;

import java.time.Duration;

/**
 * A batch as the database has it. Times are UNIX milliseconds, 0 where it has not come to that.
 *
 * @param owner who may see it, see {@link Owners}
 * @param tenant the creator's tenant, which its requests have too; empty for none
 * @param endpoint the path that its lines ask
 * @param outputFile the file of answers; empty once the batch has ended without one
 * @param errorFile the file of errors; empty once the batch has ended without one
 * @param window as the client gave it
 * @param keep how long the files of results are kept after the end
 * @param metadata a JSON object, or empty
 * @param errors a JSON list of what is wrong with the input, or empty
 */
public record StoredBatch(
    String id,
    String owner,
    String tenant,
    String endpoint,
    String inputFile,
    String outputFile,
    String errorFile,
    String window,
    Duration keep,
    String metadata,
    BatchStatus status,
    long createdMillis,
    long startedMillis,
    long expiresMillis,
    long cancellingMillis,
    long endedMillis,
    long total,
    long completed,
    long failed,
    String errors) {}
