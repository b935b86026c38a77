using Xunit;
using Xunit.Abstractions;
using Xunit.Sdk;

namespace Snapper.Sidecar.Tests;

/// <summary>Marks a test class whose sidecar is the real daprd.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class OnRealDaprAttribute : Attribute;

/// <summary>A test of a suite that runs on the real daprd and on the stand-in; the first is shown as not run where Dapr is missing.</summary>
[AttributeUsage(AttributeTargets.Method)]
[XunitTestCaseDiscoverer("Snapper.Sidecar.Tests." + nameof(SidecarFactDiscoverer), "Snapper.Sidecar.Tests")]
public sealed class SidecarFactAttribute : FactAttribute;

public sealed class SidecarFactDiscoverer(IMessageSink sink) : FactDiscoverer(sink)
{
    protected override IXunitTestCase CreateTestCase(ITestFrameworkDiscoveryOptions options, ITestMethod method, IAttributeInfo fact) =>
        DaprBinaries.SkipReason is not null && method.TestClass.Class.GetCustomAttributes(typeof(OnRealDaprAttribute)).Any()
            ? new NotRunWithoutDapr(DiagnosticMessageSink, options.MethodDisplayOrDefault(), options.MethodDisplayOptionsOrDefault(), method)
            : base.CreateTestCase(options, method, fact);
}

public sealed class NotRunWithoutDapr : XunitTestCase
{
    [Obsolete("For the runner, which makes test cases anew from their serialized form.")]
    public NotRunWithoutDapr()
    {
    }

    public NotRunWithoutDapr(IMessageSink sink, TestMethodDisplay display, TestMethodDisplayOptions options, ITestMethod method)
        : base(sink, display, options, method)
    {
    }

    protected override string GetSkipReason(IAttributeInfo factAttribute) => DaprBinaries.SkipReason ?? base.GetSkipReason(factAttribute);
}
