#if PLANTED_FAULTS
using System.Runtime.CompilerServices;
using Snapper.Protocol;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A verification build of these tests plants the fault that SNAPPER_PLANT names.</summary>
internal static class PlantedByEnvironment
{
    [ModuleInitializer]
    internal static void Plant()
    {
        if (Environment.GetEnvironmentVariable("SNAPPER_PLANT") is { Length: > 0 } name)
        {
            Planted.Fault = Enum.Parse<PlantedFault>(name);
        }
    }
}
#endif
