/**
 * Discovery in a directory that processes of one host share, in Dynamo's own form: a folder per
 * bucket, a file per record, alive while its time of change is young. Start at {@link
 * io.dynamo.discovery.file.FileDiscovery}.
 */
@NullMarked
package io.dynamo.discovery.file;

import org.jspecify.annotations.NullMarked;
