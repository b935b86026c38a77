{{- /* Where the workers find Redis. */ -}}
{{- define "snapper.redis" -}}
{{ .Values.redis.address | default "snapper-redis:6379" }}
{{- end -}}

{{- /* The names of the workers, as many as there are replicas. */ -}}
{{- define "snapper.hosts" -}}
{{- $names := list -}}
{{- range until (int .Values.worker.replicas) -}}
{{- $names = append $names (printf "snapper-worker-%d.snapper-workers" (add1 .)) -}}
{{- end -}}
{{ join ";" $names }}
{{- end -}}

{{- define "snapper.addresses" -}}
{{- $addresses := list -}}
{{- range include "snapper.hosts" . | splitList ";" -}}
{{- $addresses = append $addresses (printf "http://%s:5101" .) -}}
{{- end -}}
{{ join "," $addresses }}
{{- end -}}

{{- define "snapper.probe" -}}
test "$(redis-cli --user probe{{ if .Values.redis.tls }} --tls --cacert /run/secrets/snapper-redis-tls/ca.crt{{ end }} ping)" = PONG
{{- end -}}

{{- define "snapper.redisFiles" -}}
{{- range list "redis.conf" "users.acl" "start.sh" }}
{{ . }}: |
  {{- $.Files.Get (printf "files/%s" .) | trim | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Variables of the worker that worker.env may not repeat; with redis.tls two more are set, and more with links.direct. */ -}}
{{- define "snapper.ownVariables" -}}
{{ list
  "SNAPPER_POD_NAME"
  "SNAPPER_URL"
  "SNAPPER_WORKERS"
  "SNAPPER_LISTEN_ADDRESS"
  "SNAPPER_LISTEN_PORT"
  "SNAPPER_SIDECAR_PORT"
  "SNAPPER_APP_PORT"
  "SNAPPER_APP_PROTOCOL"
  "SNAPPER_LOG"
  "SNAPPER_REDIS"
  "SNAPPER_REDIS_PASSWORD_FILE"
  "SNAPPER_DATA"
  "SNAPPER_LEAVE_ON_STOP"
  "SNAPPER_TAKE_SHARE"
  "SNAPPER_WARM_UP"
  "APP_API_TOKEN"
  "Snapper__Http__AllowedHosts"
  "DOTNET_EnableDiagnostics"
  "TMPDIR"
  "SNAPPER_TOKENS_FILE"
  "SNAPPER_TOKEN"
  "SNAPPER_APP_ID"
  "SNAPPER_MAILBOX_SECRET"
  "SNAPPER_METRICS_PORT"
  "SNAPPER_REDIS_USER"
  "Snapper__Cluster__Links"
  (ternary "Snapper__Cluster__LinkAddress" "" .Values.links.direct)
  (ternary "Snapper__Cluster__LinkPort" "" .Values.links.direct)
  (ternary "Snapper__Cluster__LinkHost" "" .Values.links.direct)
  (ternary "Snapper__Cluster__LinkCertificate" "" .Values.links.direct)
  (ternary "Snapper__Cluster__LinkKey" "" .Values.links.direct)
  (ternary "Snapper__Cluster__LinkAuthority" "" .Values.links.direct)
  (ternary "SNAPPER_REDIS_TLS" "" .Values.redis.tls)
  (ternary "SNAPPER_REDIS_CA" "" .Values.redis.tls) | join " " }}
{{- end -}}

{{- /* The other namespaces that callers are in. */ -}}
{{- define "snapper.callersElsewhere" -}}
{{- $spaces := list -}}
{{- range .Values.callers -}}
{{- $spaces = append $spaces (.namespace | default $.Release.Namespace) -}}
{{- end -}}
{{ without (uniq $spaces) .Release.Namespace | join " " }}
{{- end -}}
