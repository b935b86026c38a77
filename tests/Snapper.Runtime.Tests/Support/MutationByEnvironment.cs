#if MUTATIONS
using System.Runtime.CompilerServices;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A verification build of these tests selects the mutation that SNAPPER_PLANT names.</summary>
internal static class MutationByEnvironment
{
    [ModuleInitializer]
    internal static void Select()
    {
        if (Environment.GetEnvironmentVariable("SNAPPER_PLANT") is { Length: > 0 } name)
        {
            MutationSwitch.Select(name);
        }
    }
}
#endif
