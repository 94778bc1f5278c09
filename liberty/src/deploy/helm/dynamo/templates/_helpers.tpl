{{- define "dynamo.name" -}}
{{- printf "%s" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "dynamo.labels" -}}
app.kubernetes.io/name: dynamo
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "dynamo.selector" -}}
app.kubernetes.io/name: dynamo
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Settings by key as variables; keys of the role go before those of all servers. */}}
{{- define "dynamo.settings" -}}
{{- range $key, $value := . }}
- name: {{ regexReplaceAll "[.-]" $key "_" | upper }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{- define "dynamo.planes" -}}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
- {name: DYN_DISCOVERY_BACKEND, value: etcd}
- name: ETCD_ENDPOINTS
  value: {{ .Values.etcd.enabled | ternary (printf "http://%s-etcd:2379" (include "dynamo.name" .)) .Values.etcd.endpoints | required "etcd.endpoints is needed where etcd.enabled is false" | quote }}
- {name: DYN_EVENT_PLANE, value: nats}
- name: NATS_SERVER
  value: {{ .Values.nats.enabled | ternary (printf "nats://%s-nats:4222" (include "dynamo.name" .)) .Values.nats.servers | required "nats.servers is needed where nats.enabled is false" | quote }}
- {name: DYN_TCP_RPC_HOST, value: $(POD_IP)}
- {name: DYN_HTTP_HOST, value: 0.0.0.0}
- {name: DYN_HTTP_PORT, value: "8000"}
- {name: DYN_SYSTEM_HOST, value: 0.0.0.0}
- {name: DYN_SYSTEM_PORT, value: "9090"}
- {name: DYNAMO_SECURITY_INSECURE, value: "true"}
- {name: DYNAMO_SECURITY_OPEN_PLANES, value: "true"}
- {name: DYN_LOGGING_JSONL, value: "1"}
{{- end -}}

{{- define "dynamo.container" -}}
name: server
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [serve, --data, /var/lib/dynamo]
env:
  - {name: DYNAMO_ROLES, value: {{ .roles | quote }}}
  {{- /* -Xshare:auto is the JVM's default; named, it keeps bin/dynamo from writing class archives, which a pod's folder does not outlive */}}
  - {name: JVM_ARGS, value: {{ printf "-Xshare:auto %s" (.set.jvmArgs | default "") | trim | quote }}}
  {{- include "dynamo.planes" .root | nindent 2 }}
  {{- include "dynamo.settings" (merge (dict) .set.settings .root.Values.settings) | nindent 2 }}
  {{- with .set.env }}{{ toYaml . | nindent 2 }}{{ end }}
ports:
  - {name: http, containerPort: 8000}
  - {name: system, containerPort: 9090}
startupProbe: {httpGet: {path: /health/started, port: http}, periodSeconds: 2, failureThreshold: 150, timeoutSeconds: 5}
readinessProbe: {httpGet: {path: /health/ready, port: http}, periodSeconds: 5, timeoutSeconds: 5}
livenessProbe: {httpGet: {path: /health/live, port: http}, periodSeconds: 10, failureThreshold: 6, timeoutSeconds: 10}
resources: {{- toYaml .set.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: data, mountPath: /var/lib/dynamo}
  {{- with .set.volumeMounts }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end -}}

{{- define "dynamo.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .set.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .set.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "dynamo.selector" . | nindent 8 }}
volumes:
  - {name: tmp, emptyDir: {}}
  - {name: data, emptyDir: {}}
  {{- with .set.volumes }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end -}}
