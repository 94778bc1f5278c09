/**
 * Discovery in a directory that processes of one user and one host share, in Dynamo's own form: a
 * folder per bucket, a file per record, which its owner renews by changing the file's time. Start
 * at {@link io.dynamo.discovery.file.FileDiscovery}; {@code StoreFolder} decides whose records are
 * trusted, {@code FileLeases} which owners are alive.
 */
@NullMarked
package io.dynamo.discovery.file;

import org.jspecify.annotations.NullMarked;
