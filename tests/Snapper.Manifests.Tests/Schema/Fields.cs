namespace Snapper.Manifests.Tests.Schema;

/// <summary>
/// Which fields the kinds that are used here have, after the Kubernetes API of 1.31 and Dapr's custom resources of 1.18. Not all fields: those that are used or are likely to be;
/// a field that is missing here is added after a look into the reference, not by guessing. A line is a type, then its fields: <c>name:type</c>, with <c>!</c> a field that must be there,
/// <c>[type]</c> a list, <c>{type}</c> a mapping with free keys, <c>a|b</c> one of these words.
/// </summary>
internal static class Fields
{
    public const string Tables = """
        Object apiVersion!:text kind!:text metadata!:Meta
        Meta name!:name namespace:name labels:{label} annotations:{text}
        TemplateMeta name:name labels:{label} annotations:{text}

        Namespace@v1 spec:Empty
        ServiceAccount@v1 automountServiceAccountToken:bool imagePullSecrets:[LocalReference]
        ConfigMap@v1 data:{text} immutable:bool
        Secret@v1 data:{text} stringData:{text} type:text immutable:bool
        Service@v1 spec!:ServiceSpec
        StatefulSet@apps/v1 spec!:StatefulSetSpec
        Deployment@apps/v1 spec!:DeploymentSpec
        PodDisruptionBudget@policy/v1 spec!:BudgetSpec
        NetworkPolicy@networking.k8s.io/v1 spec!:PolicySpec
        ServiceMonitor@monitoring.coreos.com/v1 spec!:MonitorSpec
        Component@dapr.io/v1alpha1 spec!:ComponentSpec scopes:[name]
        Configuration@dapr.io/v1alpha1 spec!:ConfigurationSpec
        Resiliency@dapr.io/v1alpha1 spec!:ResiliencySpec scopes:[name]

        Empty
        LocalReference name!:name
        Selector matchLabels:{label} matchExpressions:[Expression]
        Expression key!:text operator!:In|NotIn|Exists|DoesNotExist values:[text]

        ServiceSpec type:ClusterIP|NodePort|LoadBalancer clusterIP:text selector:{label} ports!:[ServicePort] publishNotReadyAddresses:bool sessionAffinity:None|ClientIP internalTrafficPolicy:Cluster|Local
        ServicePort name:name port!:port targetPort:portOrName protocol:TCP|UDP appProtocol:text nodePort:port

        StatefulSetSpec serviceName!:name replicas:count ordinals:Ordinals podManagementPolicy:Parallel|OrderedReady updateStrategy:SetStrategy minReadySeconds:count selector!:Selector template!:Template persistentVolumeClaimRetentionPolicy:Retention volumeClaimTemplates:[Claim] revisionHistoryLimit:count
        Ordinals start!:count
        SetStrategy type!:RollingUpdate|OnDelete rollingUpdate:SetRolling
        SetRolling partition:count maxUnavailable:countOrPercent
        Retention whenDeleted:Retain|Delete whenScaled:Retain|Delete
        Claim apiVersion:text kind:text metadata!:TemplateMeta spec!:ClaimSpec
        ClaimSpec accessModes!:[ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod] resources!:Resources storageClassName:text volumeMode:Filesystem|Block
        DeploymentSpec replicas:count selector!:Selector template!:Template strategy:DeploymentStrategy minReadySeconds:count revisionHistoryLimit:count progressDeadlineSeconds:count
        DeploymentStrategy type!:RollingUpdate|Recreate rollingUpdate:DeploymentRolling
        DeploymentRolling maxUnavailable:countOrPercent maxSurge:countOrPercent

        Template metadata!:TemplateMeta spec!:PodSpec
        PodSpec serviceAccountName:name automountServiceAccountToken:bool terminationGracePeriodSeconds:count securityContext:PodSecurity topologySpreadConstraints:[Spread] containers!:[Container] initContainers:[Container] volumes:[Volume] imagePullSecrets:[LocalReference] nodeSelector:{label} priorityClassName:name enableServiceLinks:bool hostNetwork:bool hostPID:bool hostIPC:bool shareProcessNamespace:bool restartPolicy:Always|OnFailure|Never dnsPolicy:text
        PodSecurity runAsNonRoot:bool runAsUser:count runAsGroup:count fsGroup:count fsGroupChangePolicy:OnRootMismatch|Always seccompProfile:Seccomp supplementalGroups:[count]
        Seccomp type!:RuntimeDefault|Localhost|Unconfined localhostProfile:text
        Spread maxSkew!:count topologyKey!:text whenUnsatisfiable!:DoNotSchedule|ScheduleAnyway labelSelector:Selector minDomains:count
        Container name!:name image!:text imagePullPolicy:Always|IfNotPresent|Never command:[text] args:[text] workingDir:text ports:[ContainerPort] env:[Variable] envFrom:[Source] startupProbe:Probe readinessProbe:Probe livenessProbe:Probe lifecycle:Lifecycle resources:Resources securityContext:ContainerSecurity volumeMounts:[Mount] terminationMessagePolicy:File|FallbackToLogsOnError
        ContainerPort name:name containerPort!:port protocol:TCP|UDP
        Variable name!:text value:text valueFrom:ValueFrom
        ValueFrom fieldRef:FieldRef secretKeyRef:KeyRef configMapKeyRef:KeyRef resourceFieldRef:ResourceRef
        FieldRef apiVersion:text fieldPath!:text
        ResourceRef containerName:name resource!:text divisor:quantity
        KeyRef name!:name key!:text optional:bool
        Source prefix:text secretRef:OptionalReference configMapRef:OptionalReference
        OptionalReference name!:name optional:bool
        Probe httpGet:HttpGet tcpSocket:TcpSocket exec:Exec initialDelaySeconds:count periodSeconds:count timeoutSeconds:count failureThreshold:count successThreshold:count terminationGracePeriodSeconds:count
        HttpGet path!:text port!:portOrName scheme:HTTP|HTTPS host:text httpHeaders:[Header]
        Header name!:text value!:text
        TcpSocket port!:portOrName host:text
        Exec command!:[text]
        Lifecycle preStop:Handler postStart:Handler
        Handler exec:Exec httpGet:HttpGet sleep:Sleep
        Sleep seconds!:count
        Resources requests:{quantity} limits:{quantity}
        ContainerSecurity allowPrivilegeEscalation:bool readOnlyRootFilesystem:bool runAsNonRoot:bool runAsUser:count runAsGroup:count privileged:bool capabilities:Capabilities seccompProfile:Seccomp
        Capabilities add:[text] drop:[text]
        Mount name!:name mountPath!:text readOnly:bool subPath:text
        Volume name!:name secret:SecretVolume configMap:MapVolume emptyDir:EmptyDir persistentVolumeClaim:ClaimVolume
        SecretVolume secretName!:name defaultMode:count items:[Item] optional:bool
        MapVolume name!:name defaultMode:count items:[Item] optional:bool
        Item key!:text path!:text mode:count
        EmptyDir sizeLimit:quantity medium:Memory
        ClaimVolume claimName!:name readOnly:bool

        BudgetSpec maxUnavailable:countOrPercent minAvailable:countOrPercent selector!:Selector unhealthyPodEvictionPolicy:IfHealthyBudget|AlwaysAllow
        PolicySpec podSelector!:Selector policyTypes!:[Ingress|Egress] ingress:[Ingress] egress:[Egress]
        Ingress from:[Peer] ports:[PolicyPort]
        Egress to:[Peer] ports:[PolicyPort]
        Peer podSelector:Selector namespaceSelector:Selector ipBlock:Block
        Block cidr!:text except:[text]
        PolicyPort protocol!:TCP|UDP port!:portOrName endPort:port
        MonitorSpec selector!:Selector endpoints!:[Endpoint] namespaceSelector:MonitorSpaces jobLabel:text
        MonitorSpaces any:bool matchNames:[name]
        Endpoint port!:name path:text interval:duration scrapeTimeout:duration scheme:http|https honorLabels:bool

        ComponentSpec type!:text version!:text metadata!:[MetadataItem] initTimeout:duration ignoreErrors:bool
        MetadataItem name!:text value:any secretKeyRef:KeyRef
        ConfigurationSpec tracing:Tracing metrics:Metrics logging:Logging accessControl:AccessList
        AccessList defaultAction!:allow|deny trustDomain!:text policies:[AppPolicy]
        AppPolicy appId!:text defaultAction!:allow|deny trustDomain!:text namespace!:name operations:[AppOperation]
        AppOperation name!:text httpVerb!:[text] action!:allow|deny
        Tracing samplingRate!:text stdout:bool otel:Otel
        Otel endpointAddress!:text isSecure:bool protocol:grpc|http
        Metrics enabled!:bool http:MetricsHttp
        MetricsHttp increasedCardinality:bool
        Logging apiLogging:ApiLogging
        ApiLogging enabled:bool obfuscateURLs:bool omitHealthChecks:bool
        ResiliencySpec policies!:Policies targets!:Targets
        Policies retries:{Retry} timeouts:{text} circuitBreakers:{Breaker}
        Retry policy!:constant|exponential duration:duration maxRetries:whole maxInterval:duration
        Breaker maxRequests:count interval:duration timeout:duration trip:text
        Targets apps:{Target} actors:{Target} components:{text}
        Target retry:text timeout:text circuitBreaker:text
        """;
}
